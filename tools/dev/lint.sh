#!/usr/bin/env bash
# clang-tidy over the C++ files that differ from a commit (default: the one before the last, so the
# last commit and what is not committed), or over the files named. About 7 s a file.
#
#   tools/dev/lint.sh [--since COMMIT] [--max N] [FILE ...]
#
# Reads the compile_commands.json of build/lint, which it configures once: each source by itself, with the
# generated headers built. MASKD_BUILD_DIR names another build of that kind.
# --max N stops after N files and says which were not looked at: a bound for CI, not for a person.
set -euo pipefail
cd "$(dirname "$0")/../.."

build=${MASKD_BUILD_DIR:-build/lint}
since=HEAD~1
max=0
while [[ $# -gt 0 ]]; do
  case $1 in
    --since) since=$2; shift 2 ;;
    --max) max=$2; shift 2 ;;
    -*) echo "lint.sh: unknown option $1" >&2; exit 2 ;;
    *) break ;;
  esac
done

if [[ ! -f $build/compile_commands.json ]]; then
  cmake --preset release -B "$build" -DMASKD_JOIN_SOURCES=OFF
  cmake --build "$build" --target maskd_protos maskd_other_protos maskd_server_config
fi
if [[ $# -gt 0 ]]; then
  files=("$@")
elif git rev-parse --quiet --verify "$since^{commit}" >/dev/null; then
  mapfile -t files < <(git diff --name-only --diff-filter=d "$since" -- '*.cc')
else
  echo "lint.sh: $since is not a commit here (a first commit, or a shallow clone): every file" >&2
  mapfile -t files < <(git ls-files -- '*.cc')
fi
if [[ ${#files[@]} -eq 0 ]]; then
  echo "lint.sh: no C++ file changed since $since"
  exit 0
fi
if (( max > 0 && ${#files[@]} > max )); then
  echo "lint.sh: only the first $max of ${#files[@]} files; not looked at: ${files[*]:max}" >&2
  files=("${files[@]:0:max}")
fi
printf '%s\n' "${files[@]}" |
  xargs -P "$(nproc)" -n 1 "${CLANG_TIDY:-clang-tidy-19}" -p "$build" --quiet
echo "lint.sh: ${#files[@]} files clean"
