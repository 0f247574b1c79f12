// Each format is a row of a table: how it is told from the head of a file, and what reads it. Every
// reader gives one raw vocabulary; what the file lacks (special tokens, stop tokens) is then taken
// from the caller, the files beside it, a preset, or well-known spellings.
//
// Invariant  a stop token is special, whatever the file calls it.
// Cost       one pass over the file, and one over the tokens.
#include "grammar_core/tokenizer/loader.h"

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/limits.h"
#include "grammar_core/tokenizer/formats/format.h"
#include "grammar_core/tokenizer/source_file.h"
#include "grammar_core/tokenizer/special_presets.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

struct Format {
  const char* name;
  // `head` is the start of the file, kHeadBytes or all of it.
  bool (*looks_like)(absl::string_view head);
  // Errors start with the path.
  absl::StatusOr<RawVocabulary> (*read)(SourceFile* file);
  // What files beside the named one add: stop tokens, and for some formats special tokens. May be
  // null.
  absl::Status (*read_beside)(const std::string& path, RawVocabulary* raw);
  bool beside_lists_special;
};

constexpr std::int64_t kHeadBytes = 16 << 10;

template <absl::StatusOr<RawVocabulary> (*Read)(absl::string_view content)>
absl::StatusOr<RawVocabulary> Whole(SourceFile* file) {
  const absl::StatusOr<std::string> content =
      file->ReadWhole("vocabulary_file_bytes", kVocabularyLimits.vocabulary_file_bytes);
  if (!content.ok()) return content.status();
  absl::StatusOr<RawVocabulary> raw = Read(*content);
  return raw.ok() ? std::move(raw) : InFile(file->path(), raw.status());
}

template <absl::StatusOr<RawVocabulary> (*Read)(std::istream& file)>
absl::StatusOr<RawVocabulary> Streamed(SourceFile* file) {
  absl::StatusOr<RawVocabulary> raw = Read(file->stream());
  return raw.ok() ? std::move(raw) : InFile(file->path(), raw.status());
}

// The first that the content looks like is its format: any object is taken for a tokenizer.json.
constexpr std::array kFormats = {
    Format{"tekken", &LooksLikeTekken, &Whole<ReadTekken>, &ReadModelConfigs, false},
    Format{"huggingface", &LooksLikeHuggingFace, &Whole<ReadHuggingFace>, &ReadModelConfigs, false},
    Format{"gguf", &LooksLikeGguf, &Streamed<ReadGguf>, nullptr, false},
    Format{"sentencepiece", &LooksLikeSentencePiece, &Whole<ReadSentencePiece>, &ReadModelConfigs,
           false},
    Format{"tiktoken", &LooksLikeTiktoken, &Whole<ReadTiktoken>, &ReadBesideTiktoken, true},
};

// What ends a text where neither the caller nor a file beside says it.
constexpr absl::string_view kReturn = "<|return|>";
constexpr absl::string_view kMessageEnd = "<|end|>";
constexpr std::array<absl::string_view, 22> kWellKnownStops = {
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|im_end|>",
    "<|endoftext|>",
    kMessageEnd,
    kReturn,
    "<|call|>",
    "<|endofprompt|>",
    "</s>",
    "<eos>",
    "<end_of_turn>",
    "<|END_OF_TURN_TOKEN|>",
    "<|EOT|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<end_of_utterance>",
    "<turn|>",
    "<|tool_response>",
    "<\xEF\xBD\x9C"
    "end\xE2\x96\x81"
    "of\xE2\x96\x81"
    "sentence\xEF\xBD\x9C>",
};

constexpr int kByteCount = 256;
constexpr char kEmbeddedName[] = "bytes";
constexpr char kEmbeddedEnd[] = "<|end|>";

absl::StatusOr<const Format*> FindFormat(absl::string_view name, absl::string_view head) {
  for (const Format& format : kFormats)
    if (name.empty() ? format.looks_like(head) : name == format.name) return &format;
  const std::string known = absl::StrJoin(VocabularyFormats(), ", ");
  if (!name.empty()) {
    return InvalidTokenizer("format",
                            absl::StrCat("\"", Shortened(name), "\" is not one of ", known));
  }
  return InvalidTokenizer("1:1", absl::StrCat("the content is of no known format: ", known));
}

absl::Status AddSpecial(absl::string_view place, absl::string_view text, TokenId id,
                        RawVocabulary* raw) {
  const auto index = static_cast<std::size_t>(id);
  if (id >= 0 && index < raw->tokens.size() && raw->tokens[index].special &&
      raw->tokens[index].bytes == text) {
    return absl::OkStatus();  // the file says it too
  }
  return PutToken(place, id, {std::string(text), true}, raw);
}

absl::Status AddPreset(absl::string_view name, RawVocabulary* raw) {
  const absl::StatusOr<SpecialPreset> preset = FindSpecialPreset(name);
  if (!preset.ok()) return preset.status();
  if (raw->tokens.size() != static_cast<std::size_t>(preset->rank_count)) {
    return InvalidTokenizer("special_preset",
                            absl::StrCat(name, " is for ", preset->rank_count,
                                         " tokens; the file has ", raw->tokens.size()));
  }
  for (std::size_t i = 0; i < preset->special.size(); ++i) {
    const auto id = static_cast<TokenId>(preset->rank_count + i);
    if (absl::Status added = AddSpecial("special_preset", preset->special[i], id, raw); !added.ok())
      return added;
  }
  raw->rules = RankRules(preset->pattern);
  for (const std::string& stop : preset->stop) raw->stop_ids.push_back(FindNamed(stop, *raw));
  return absl::OkStatus();
}

absl::Status AddCallersSpecial(const VocabularySource& source, RawVocabulary* raw) {
  if (!source.special_preset.empty()) {
    if (absl::Status added = AddPreset(source.special_preset, raw); !added.ok()) return added;
  }
  for (const auto& [text, id] : source.extra_special) {
    const std::string place = absl::StrCat("special \"", Shortened(text), "\"");
    if (absl::Status added = AddSpecial(place, text, id, raw); !added.ok()) return added;
  }
  return absl::OkStatus();
}

// The files beside are read for what the caller does not say: the special tokens where they list
// those, else the stop tokens.
bool LooksBeside(const VocabularySource& source, const Format& format) {
  if (format.read_beside == nullptr) return false;
  return format.beside_lists_special ? source.extra_special.empty() && source.special_preset.empty()
                                     : source.stop_tokens.empty();
}

absl::Status AddWhatTheFileLacks(const VocabularySource& source, const Format& format,
                                 RawVocabulary* raw) {
  if (absl::Status added = AddCallersSpecial(source, raw); !added.ok()) return added;
  return LooksBeside(source, format) ? format.read_beside(source.path, raw) : absl::OkStatus();
}

absl::StatusOr<std::vector<TokenId>> NamedStops(const std::vector<std::string>& names,
                                                const RawVocabulary& raw) {
  std::vector<TokenId> ids;
  for (const std::string& name : names) {
    const TokenId id = FindNamed(name, raw);
    if (id < 0) {
      return InvalidTokenizer("stop_tokens",
                              absl::StrCat("no token is spelled \"", Shortened(name), "\""));
    }
    ids.push_back(id);
  }
  return ids;
}

// A well-known spelling counts where the file lists it apart from the model's pieces: "</s>" can
// be an ordinary piece of a vocabulary that has seen HTML. Where "<|return|>" ends a text,
// "<|end|>" ends one message of several.
std::vector<TokenId> WellKnownStops(const RawVocabulary& raw) {
  const bool has_return = FindListed(kReturn, raw) >= 0;
  std::vector<TokenId> ids;
  for (const absl::string_view text : kWellKnownStops) {
    const TokenId id = FindListed(text, raw);
    if (id >= 0 && !(has_return && text == kMessageEnd)) ids.push_back(id);
  }
  return ids;
}

absl::StatusOr<std::vector<TokenId>> StopIds(const VocabularySource& source,
                                             const RawVocabulary& raw) {
  if (!source.stop_tokens.empty()) return NamedStops(source.stop_tokens, raw);
  std::vector<TokenId> ids = raw.stop_ids;
  if (ids.empty()) {
    ids = WellKnownStops(raw);
    ids.insert(ids.end(), raw.own_stop_ids.begin(), raw.own_stop_ids.end());
  }
  if (ids.empty())
    return InvalidTokenizer("stop_tokens", "the file names no token that ends a text: name one");
  return ids;
}

// A token that ends a text is special, whatever the file calls it: its text is never matched.
void MakeSpecial(const std::vector<TokenId>& ids, RawVocabulary* raw) {
  for (const auto& [piece, id] : raw->id_by_piece) {
    for (const TokenId stop : ids)
      if (id == stop && !raw->tokens[id].special) raw->tokens[id].bytes = piece;
  }
  for (const TokenId id : ids) raw->tokens[id].special = true;
}

absl::StatusOr<std::shared_ptr<const Vocabulary>> FromRaw(const VocabularySource& source,
                                                          const Format& format, RawVocabulary raw) {
  if (absl::Status added = AddWhatTheFileLacks(source, format, &raw); !added.ok()) return added;
  absl::StatusOr<std::vector<TokenId>> stop_ids = StopIds(source, raw);
  if (!stop_ids.ok()) return stop_ids.status();
  MakeSpecial(*stop_ids, &raw);
  // Where the file does not say how texts are cut, its added tokens are known all the same.
  if (raw.rules.symbols == EncodingRules::Symbols::kUnknown) raw.rules.atoms = raw.added_ids;
  return Vocabulary::Create(source.name, std::move(raw.tokens), *std::move(stop_ids),
                            std::move(raw.rules));
}

absl::StatusOr<std::shared_ptr<const Vocabulary>> FromFile(const VocabularySource& source) {
  absl::StatusOr<SourceFile> file = SourceFile::Open(source.path);
  if (!file.ok()) return file.status();
  const absl::StatusOr<std::string> head = file->ReadHead(kHeadBytes);
  if (!head.ok()) return head.status();
  const absl::StatusOr<const Format*> format = FindFormat(source.format, *head);
  if (!format.ok()) return InFile(source.path, format.status());
  absl::StatusOr<RawVocabulary> raw = (*format)->read(&*file);
  if (!raw.ok()) return raw.status();
  absl::StatusOr<std::shared_ptr<const Vocabulary>> made =
      FromRaw(source, **format, *std::move(raw));
  return made.ok() ? made : InFile(source.path, made.status());
}

absl::StatusOr<std::shared_ptr<const Vocabulary>> MakeEmbedded(const std::string& name) {
  std::vector<Vocabulary::Token> tokens;
  tokens.reserve(kByteCount + 1);
  for (int byte = 0; byte < kByteCount; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte)), false});
  const auto end = static_cast<TokenId>(tokens.size());
  tokens.push_back({kEmbeddedEnd, true});
  return Vocabulary::Create(name, std::move(tokens), {end});
}

bool SaysMoreThanItsName(const VocabularySource& source) {
  return !source.format.empty() || !source.extra_special.empty() ||
         !source.special_preset.empty() || !source.stop_tokens.empty();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Vocabulary>> LoadVocabulary(const VocabularySource& source) {
  if (source.name.empty()) return InvalidTokenizer("name", "must not be empty");
  if (source.path.empty()) {
    return SaysMoreThanItsName(source)
               ? InvalidTokenizer("path",
                                  "the embedded vocabulary has no format, special or stop "
                                  "tokens to choose")
               : MakeEmbedded(source.name);
  }
  return FromFile(source);
}

std::shared_ptr<const Vocabulary> EmbeddedByteVocabulary() {
  absl::StatusOr<std::shared_ptr<const Vocabulary>> made = MakeEmbedded(kEmbeddedName);
  assert(made.ok());
  return *std::move(made);
}

std::vector<std::string> VocabularyFormats() {
  std::vector<std::string> names;
  names.reserve(kFormats.size());
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

std::vector<std::string> SpecialPresets() { return SpecialPresetNames(); }

}  // namespace maskd
