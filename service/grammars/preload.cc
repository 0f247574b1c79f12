// Before the server says that it is ready: a grammar that does not compile is an error of the
// deployment, so it ends the start (or refuses the reload), and is never skipped in silence.
#include "service/grammars/preload.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "service/base/log.h"
#include "service/callers/token_table.h"

namespace maskd::service {
namespace {

namespace fs = std::filesystem;

absl::Status Wrong(absl::string_view path, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("--grammars: ", path, ": ", why));
}

// Whether it may hold a grammar: a file or a link to one does, a folder does not. Errors: whatever
// else has a grammar's name, which would else be missed without a word.
absl::StatusOr<bool> IsFile(const fs::directory_entry& entry) {
  std::error_code error;
  const fs::file_status status = entry.status(error);  // of what a link leads to
  if (fs::is_regular_file(status)) return true;
  if (fs::is_directory(status)) return false;
  if (!error) return Wrong(entry.path().string(), "is no file");
  std::error_code ignored;
  return Wrong(entry.path().string(),
               absl::StrCat(entry.is_symlink(ignored) ? "as a link: " : "", error.message()));
}

absl::StatusOr<std::vector<fs::path>> FilesOf(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (auto at = fs::directory_iterator(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    if (absl::StartsWith(at->path().filename().string(), ".")) continue;
    const absl::StatusOr<bool> is_file = IsFile(*at);
    if (!is_file.ok()) return is_file.status();
    if (*is_file) files.push_back(at->path());
  }
  if (error) return Wrong(folder, error.message());
  // In an order of their names, so that the first error is the same one each time.
  std::sort(files.begin(), files.end());
  return files;
}

absl::StatusOr<GrammarSource> ReadSource(const fs::path& file) {
  const std::string kind = file.extension().string();
  if (kind.size() < 2) return Wrong(file.string(), "the name does not end with .KIND");
  absl::StatusOr<std::string> text = ReadSmallFile(file.string());
  if (!text.ok())  // which begins with the path
    return absl::InvalidArgumentError(absl::StrCat("--grammars: ", text.status().message()));
  GrammarSource source{kind.substr(1), *std::move(text)};
  source.options.spelling = JsonSpelling::kCanonical;  // as of a request that says nothing
  return source;
}

// How soon the end of the server is seen.
constexpr std::chrono::milliseconds kLook{20};

// One after the other on main's thread, which may wait: at the start the server is not ready yet,
// and a reload goes on beside the calls. A compile that nobody waits for any more is cancelled.
cache::CompileResult CompileOne(const GrammarSource& source, const LoadedTokenizer& tokenizer,
                                GrammarStore* grammars, const std::function<bool()>& is_over) {
  const GrammarTarget target{"", source};
  const auto request = grammars->Get(target, tokenizer);
  if (!request.ok()) return request.status();
  while (!request->ticket.WaitUntil(Clock::Steady()->Now() + kLook))
    if (is_over != nullptr && is_over()) return absl::CancelledError("the server ends");
  return request->ticket.result();
}

}  // namespace

absl::StatusOr<std::vector<cache::GrammarPtr>> Preload(const std::string& folder,
                                                       const TokenizerStore& tokenizers,
                                                       GrammarStore* grammars,
                                                       const std::function<bool()>& is_over) {
  std::vector<cache::GrammarPtr> all;
  if (folder.empty()) return all;
  const absl::StatusOr<std::vector<fs::path>> files = FilesOf(folder);
  if (!files.ok()) return files.status();
  for (const fs::path& file : *files) {
    const absl::StatusOr<GrammarSource> source = ReadSource(file);
    if (!source.ok()) return source.status();
    for (const LoadedTokenizer& tokenizer : tokenizers.all()) {
      cache::CompileResult grammar = CompileOne(*source, tokenizer, grammars, is_over);
      if (absl::IsCancelled(grammar.status())) return grammar.status();
      if (!grammar.ok()) return Wrong(file.string(), grammar.status().message());
      LogEvent("preloaded", {{"file", file.filename().string()},
                             {"tokenizer", tokenizer.name()},
                             {"grammar", (*grammar)->id()}});
      all.push_back(*std::move(grammar));
    }
  }
  return all;
}

}  // namespace maskd::service
