"""The registry of algorithms: one line an algorithm, in the order in which they are listed."""

# Type checkers take a name as exported when it is imported in the form "X as X".
from skde.algorithms.de import DE as DE
from skde.algorithms.jde import JDE as JDE
from skde.algorithms.sade import SADE as SADE
from skde.algorithms.gade import GADE as GADE
from skde.algorithms.jade import JADE as JADE
from skde.algorithms.shade import SHADE as SHADE
from skde.algorithms.lshade import LSHADE as LSHADE
from skde.algorithms.jso import JSO as JSO
from skde.algorithms.nlshadersp import NLSHADERSP as NLSHADERSP
from skde.algorithms.arrde import ARRDE as ARRDE
from skde.algorithms.lsrtde import LSRTDE as LSRTDE
from skde.algorithms.rdex import RDEX as RDEX
from skde.algorithms.gode import GODE as GODE
from skde.algorithms.gode import GOJDE as GOJDE
from skde.algorithms.soupde import SOUPDE as SOUPDE
from skde.algorithms.chc import CHC as CHC
from skde.algorithms.pso import PSO as PSO
from skde.algorithms.ss import SS as SS
from skde.algorithms.cmaes import CMAES as CMAES
