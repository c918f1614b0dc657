"""The options of other libraries' optimisers: a type, or the choices, of each.

They are checked before a run, because minionpy ignores unknown options and invalid values.
"""

from __future__ import annotations

OptionType = type[int] | type[float] | tuple[str, ...]
OptionTypes = dict[str, OptionType]

# -- minionpy ----------------------------------------------------------------------------------------------------------

BOUNDED: OptionTypes = {"bound_strategy": ("random", "reflect-random", "clip", "periodic", "none")}
SIZED: OptionTypes = {**BOUNDED, "population_size": int}
SHARED: OptionTypes = {**SIZED, "x_tol": float, "f_tol": float}
SHRINKING: OptionTypes = {**SHARED, "minimum_population_size": int}
REDUCED: OptionTypes = {
    **SHRINKING,
    "archive_size_ratio": float,
    "reduction_strategy": ("linear", "exponential", "agsk"),
}
STEPPED: OptionTypes = {**SHARED, "rel_initial_step": float}
RESTARTED: OptionTypes = {**STEPPED, "max_restarts": int}
SWARM: OptionTypes = {
    **SIZED,
    "inertia_weight": float,
    "cognitive_coefficient": float,
    "social_coefficient": float,
    "velocity_clamp": float,
}
QUASI_NEWTON: OptionTypes = {
    "m": int,
    "g_epsilon": float,
    "g_epsilon_rel": float,
    "f_reltol": float,
    "max_linesearch": int,
    "c_1": float,
    "c_2": float,
    "func_noise_ratio": float,
    "N_points_derivative": int,
}
MINIONPY: dict[str, OptionTypes] = {
    "JADE": {**REDUCED, "c": float},
    "LSHADE": {**REDUCED, "memory_size": int},
    "jSO": {**REDUCED, "memory_size": int},
    "LSRTDE": {**SHARED, "memory_size": int, "success_rate": float},
    "DE": {**SHARED, "mutation_rate": float, "crossover_rate": float},
    "j2020": {**SIZED, "tau1": float, "tau2": float, "myEqs": float},
    "NLSHADE_RSP": {**SHRINKING, "memory_size": int, "archive_size_ratio": float},
    "NLSHADE_LBC": {**SHRINKING, "memory_size": int, "archive_size_ratio": float},
    "RDEX": {
        **SHARED,
        "memory_size": int,
        "success_rate": float,
        "eb_hybrid_rate_init": float,
        "perturbation_rate": float,
    },
    "ARRDE": SHARED,
    "IMODE": {**SHRINKING, "memory_size": int, "archive_size_ratio": float},
    "AGSK": SHRINKING,
    "LSHADE_cnEpSin": {**SHRINKING, "memory_size": int, "archive_rate": float, "p_best_fraction": float},
    "CMAES": STEPPED,
    "ACMAES": STEPPED,
    "RCMAES": RESTARTED,
    "BIPOP_aCMAES": RESTARTED,
    "ABC": {**SIZED, "limit": int},
    "PSO": SWARM,
    "SPSO2011": {**SWARM, "phi_personal": float, "phi_social": float, "informant_degree": int},
    "DMSPSO": SWARM,
    "NelderMead": {**BOUNDED, "locality_factor": float, "x_tol": float, "f_tol": float},
    "DA": {
        **BOUNDED,
        "acceptance_par": float,
        "visit_par": float,
        "initial_temp": float,
        "restart_temp_ratio": float,
    },
    "L_BFGS_B": QUASI_NEWTON,
    "L_BFGS": QUASI_NEWTON,
    "GradientDescent": {**BOUNDED, "base_learning_rate": float, "fd_epsilon": float, "g_tol": float},
}

# -- others ------------------------------------------------------------------------------------------------------------

STRATEGIES = tuple(
    f"{base}{crossover}"
    for base in ("best1", "best2", "rand1", "rand2", "randtobest1", "currenttobest1")
    for crossover in ("bin", "exp")
)
SCIPY: dict[str, OptionTypes] = {
    "differential_evolution": {
        "strategy": STRATEGIES,
        "popsize": int,
        "mutation": float,
        "recombination": float,
        "init": ("latinhypercube", "sobol", "halton", "random"),
    },
    "dual_annealing": {"initial_temp": float, "restart_temp_ratio": float, "visit": float, "accept": float},
    "direct": {"eps": float},
}

POPULATION: OptionTypes = {"pop_size": int}
SELF_ADAPTIVE: OptionTypes = {**POPULATION, "variant": int, "variant_adptv": int}
PYGMO: dict[str, OptionTypes] = {
    "sade": SELF_ADAPTIVE,
    "de": {**POPULATION, "F": float, "CR": float, "variant": int},
    "de1220": {**POPULATION, "variant_adptv": int},
    "pso": {**POPULATION, "omega": float, "eta1": float, "eta2": float, "max_vel": float, "variant": int},
    "pso_gen": {**POPULATION, "omega": float, "eta1": float, "eta2": float, "max_vel": float, "variant": int},
    "cmaes": {**POPULATION, "sigma0": float},
    "xnes": {**POPULATION, "sigma0": float},
    "sga": {**POPULATION, "cr": float, "m": float},
    "gaco": {**POPULATION, "ker": int, "q": float},
    "gwo": POPULATION,
    "bee_colony": {**POPULATION, "limit": int},
}

EVOLUTION_STRATEGY: OptionTypes = {"popsize": int, "sigma0": float}
CMA: dict[str, OptionTypes] = {
    "cmaes": EVOLUTION_STRATEGY,
    "ipop": EVOLUTION_STRATEGY,
    "bipop": EVOLUTION_STRATEGY,
}
FCMAES: dict[str, OptionTypes] = {
    "de": {"popsize": int, "f": float, "cr": float},
    "cmaes": {"popsize": int, "input_sigma": float},
    "bite": {"popsize": int, "M": int},
    "crfmnes": {"popsize": int, "input_sigma": float},
    "da": {},
}
EVOSAX: dict[str, OptionTypes] = {
    "DifferentialEvolution": {**POPULATION, "differential_weight": float, "crossover_rate": float},
    "PSO": {**POPULATION, "inertia_coeff": float, "cognitive_coeff": float, "social_coeff": float},
    "CMA_ES": POPULATION,
    "Sep_CMA_ES": POPULATION,
    "xNES": POPULATION,
}
EVOX: dict[str, OptionTypes] = {
    "DE": {**POPULATION, "differential_weight": float, "cross_probability": float},
    "JaDE": POPULATION,
    "SHADE": POPULATION,
    "SaDE": POPULATION,
    "CoDE": POPULATION,
    "PSO": {**POPULATION, "w": float, "phi_p": float, "phi_g": float},
}
