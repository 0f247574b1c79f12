// RFC 3986: the parts of a URI (appendix B), and a reference seen from a base (section 5.2).
#include "grammar_core/frontend/json_schema/reading/uri.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace maskd {
namespace {

struct UriParts {
  absl::string_view scheme;     // with its ':'
  absl::string_view authority;  // with its "//"
  absl::string_view path;
  absl::string_view query;  // with its '?'
};

// Section 3.1: a letter, then letters, digits and three signs. What looks otherwise, such as "1:a",
// is a path with a colon in it.
bool IsScheme(absl::string_view text) {
  return !text.empty() && absl::ascii_isalpha(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '+' || c == '-' || c == '.';
         });
}

// Appendix B by hand: cut from the end (query), then from the front (scheme, authority); the path
// is what is left. The fragment is off already, see SplitFragment().
UriParts PartsOf(absl::string_view uri) {
  UriParts parts;
  const std::size_t query = std::min(uri.find('?'), uri.size());
  parts.query = uri.substr(query);
  uri = uri.substr(0, query);
  const std::size_t colon = uri.find(':');
  if (colon != absl::string_view::npos && IsScheme(uri.substr(0, colon))) {
    parts.scheme = uri.substr(0, colon + 1);
    uri.remove_prefix(colon + 1);
  }
  if (absl::StartsWith(uri, "//")) {
    const std::size_t end = std::min(uri.find('/', 2), uri.size());
    parts.authority = uri.substr(0, end);
    uri.remove_prefix(end);
  }
  parts.path = uri;
  return parts;
}

// Section 5.2.4: "." stays where it is, ".." takes the step before it away. Where there is nothing
// to take away, ".." goes too; `kept_above`, of a path that is relative still, it stays.
std::string WithoutDots(absl::string_view path, bool kept_above = false) {
  std::vector<absl::string_view> kept;
  const std::vector<absl::string_view> steps = absl::StrSplit(path, '/');
  const std::size_t root = absl::StartsWith(path, "/") ? 1 : 0;  // an empty step
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool last = i + 1 == steps.size();
    if (steps[i] != "." && steps[i] != "..") {
      kept.push_back(steps[i]);
      continue;
    }
    if (steps[i] == "..") {
      if (kept.size() > root && kept.back() != "..")
        kept.pop_back();
      else if (kept_above)
        kept.push_back(steps[i]);
    }
    if (!last) continue;
    if (kept.empty() && kept_above) kept.emplace_back(".");
    kept.emplace_back("");  // not a view of nothing, which may not be copied from
  }
  return absl::StrJoin(kept, "/");
}

// Section 5.2.3: a relative path takes the place of the base's last step.
std::string Merged(const UriParts& base, absl::string_view path) {
  if (!base.authority.empty() && base.path.empty()) return absl::StrCat("/", path);
  const std::size_t slash = base.path.rfind('/');
  if (slash == absl::string_view::npos) return std::string(path);
  return absl::StrCat(base.path.substr(0, slash + 1), path);
}

}  // namespace

UriReference SplitFragment(absl::string_view uri) {
  const std::size_t hash = std::min(uri.find('#'), uri.size());
  return {std::string(uri.substr(0, hash)),
          hash < uri.size() ? std::string(uri.substr(hash + 1)) : ""};
}

// Section 5.2.2, case by case: the reference keeps what it has from some part on, and takes the
// parts before it from the base. Nothing is normalized but dots, so two spellings of one URI are
// two names, as the specification warns.
std::string ResolveUri(absl::string_view base_uri, absl::string_view reference) {
  const UriParts base = PartsOf(base_uri);
  const UriParts to = PartsOf(reference);
  if (!to.scheme.empty()) {
    const bool hierarchical = absl::StartsWith(to.path, "/");
    return absl::StrCat(to.scheme, to.authority,
                        hierarchical ? WithoutDots(to.path) : std::string(to.path), to.query);
  }
  if (!to.authority.empty())
    return absl::StrCat(base.scheme, to.authority, WithoutDots(to.path), to.query);
  if (to.path.empty()) {
    const absl::string_view query = to.query.empty() ? base.query : to.query;
    return absl::StrCat(base.scheme, base.authority, base.path, query);
  }
  const std::string path =
      absl::StartsWith(to.path, "/") ? std::string(to.path) : Merged(base, to.path);
  const bool relative = base.scheme.empty() && !absl::StartsWith(path, "/");
  return absl::StrCat(base.scheme, base.authority, WithoutDots(path, relative), to.query);
}

// A percent sign without two hexadecimal digits is an error of the caller's, not a character.
std::optional<std::string> PercentDecoded(absl::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::uint32_t byte = 0;
    if (text[i] != '%') {
      out.push_back(text[i]);
    } else if (i + 2 < text.size() && absl::ascii_isxdigit(text[i + 1]) &&
               absl::ascii_isxdigit(text[i + 2]) &&
               absl::SimpleHexAtoi(text.substr(i + 1, 2), &byte)) {
      out.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace maskd
