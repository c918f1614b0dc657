# One tuning by irace. tuners_irace.py starts this program, runs the experiments and answers line by line.
#
# Rscript tuners_irace.R ELITIST TEST EXPERIMENTS INSTANCES SEED PARAMETERS
#
# Lines "run INSTANCE SEED VALUE ..." ask for experiments, "costs" for a line with their costs, and the last line,
# "best VALUE ...", is the best configuration. Other lines are irace's own.

suppressPackageStartupMessages(library(irace))

given <- commandArgs(trailingOnly = TRUE)
answers <- file("stdin", "r")
# irace rounds numbers to these digits; parameters on a logarithmic scale need many.
parameters <- readParameters(text = given[6], digits = 15)

# Floats come back as the same floats with 17 digits.
words <- function(configuration) {
  vapply(configuration[parameters$names], function(value) {
    if (is.numeric(value)) sprintf("%.17g", value) else as.character(value)
  }, "")
}

run <- function(experiments, ...) {
  for (experiment in experiments) {
    cat("run", experiment$instance, experiment$seed, words(experiment$configuration), "\n")
  }
  cat("costs\n")
  flush(stdout())
  lapply(strsplit(readLines(answers, 1), " ")[[1]], function(cost) list(cost = as.numeric(cost), time = NA))
}

scenario <- list(
  elitist = as.integer(given[1]),
  testType = given[2],
  maxExperiments = as.integer(given[3]),
  instances = seq_len(as.integer(given[4])) - 1,
  seed = as.integer(given[5]),
  targetRunnerParallel = run,
  digits = 15,
  execDir = tempdir(),
  logFile = ""
)
elites <- irace(scenario, parameters)
cat("best", words(as.list(elites[1, ])), "\n")
