// Enumerations that Python reads by the names of their members, which are numbered from 0: Python types neither.
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
