#!/usr/bin/env bash
# Formats every tracked C++ file. With --check changes nothing and fails, naming the places, when one
# is not as clang-format leaves it or has a line past 100 columns (clang-format leaves comments alone).
set -euo pipefail
cd "$(dirname "$0")/../.."

formatter=${CLANG_FORMAT:-clang-format-19}
mapfile -t sources < <(git ls-files -- '*.h' '*.cc')

if [[ ${1:-} != --check ]]; then
  "$formatter" -i "${sources[@]}"
  exit
fi
"$formatter" --dry-run --Werror "${sources[@]}"
# Characters, not bytes: a comment may quote what a token is. Raw strings cannot be broken, and
# generated tables are not for reading.
mapfile -t read_sources < <(printf '%s\n' "${sources[@]}" | grep -v '_tables\.cc$')
if LC_ALL=C.UTF-8 grep -nE '^.{101,}' -- "${read_sources[@]}" | grep -v 'R"'; then
  echo "the lines above are longer than 100 columns" >&2
  exit 1
fi
