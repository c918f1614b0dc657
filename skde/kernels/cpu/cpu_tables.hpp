// The part of the Python module that describes the kernels.
#pragma once
#include <nanobind/nanobind.h>

void define_tables(nanobind::module_& m);
