// Enumerations that Python reads. Their members are numbered from 0, and Python has neither names nor numbers in its
// source.
#pragma once

// The text of the list, for the host.
#define SKDE_NAMES(Name, ...)                          \
  struct Name##Names {                                 \
    static constexpr const char* names = #__VA_ARGS__; \
  }

#define SKDE_ENUM(Name, Type, ...)  \
  enum Name : Type { __VA_ARGS__ }; \
  SKDE_NAMES(Name, __VA_ARGS__)

#define SKDE_ENUM_CLASS(Name, Type, ...)  \
  enum class Name : Type { __VA_ARGS__ }; \
  SKDE_NAMES(Name, __VA_ARGS__)
