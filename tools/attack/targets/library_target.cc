// The engine's own classes behind the interface of the attack set. Each token is looked up in the
// mask before it is taken, and the two answers must agree. A number that the library's type cannot
// hold is refused here, as a compiler would.
//
// Invariant  a broken promise is INTERNAL; a refusal of the library keeps its own code.
// Cost       one mask for each token.
#include "tools/attack/targets/library_target.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "client/apply/applier.h"
#include "client/apply/make_applier.h"
#include "grammar_core/base/error.h"
#include "grammar_core/compile/compiler.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/matcher/matcher.h"

namespace maskd::attack {
namespace {

absl::Status Broken(absl::string_view what) { return absl::InternalError(what); }

// Whether the library's own type for it can hold the number: what it cannot hold is refused by the
// type, before any call.
template <typename Number>
std::optional<Number> AsTyped(std::int64_t number) {
  if (number < std::numeric_limits<Number>::min() || number > std::numeric_limits<Number>::max())
    return std::nullopt;
  return static_cast<Number>(number);
}

MaskWords WordsOf(const TokenMask& mask) {
  MaskWords words(mask.word_count());
  mask.CopyTo(words.data());
  return words;
}

class LibraryRow final : public Row {
 public:
  explicit LibraryRow(Matcher matcher) : matcher_(std::move(matcher)) {}

  absl::StatusOr<MaskWords> Mask() override {
    const absl::StatusOr<MaskRef> mask = Look();
    if (!mask.ok()) return mask.status();
    return *mask == nullptr ? MaskWords() : WordsOf(**mask);
  }

  absl::Status Take(std::span<const TokenId> tokens, std::int64_t* taken) override {
    for (*taken = 0; *taken < std::ssize(tokens); ++*taken) {
      const TokenId token = tokens[static_cast<std::size_t>(*taken)];
      if (absl::Status status = TakeOne(token); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status TakeNoToken(std::int64_t token) override {
    const std::optional<TokenId> id = AsTyped<TokenId>(token);
    if (!id.has_value()) return absl::InvalidArgumentError("no TokenId");
    const absl::Status taken = matcher_.Accept(*id);
    return taken.ok() ? Broken(absl::StrCat("took token ", token)) : taken;
  }

  absl::Status Rollback(std::int64_t count) override {
    const std::optional<int> typed = AsTyped<int>(count);
    return typed.has_value() ? matcher_.Rollback(*typed) : absl::OutOfRangeError("no int");
  }

  std::int64_t token_count() override { return matcher_.token_count(); }

  absl::StatusOr<std::unique_ptr<Row>> Fork() override {
    return std::make_unique<LibraryRow>(matcher_.Fork());
  }

  absl::Status MaskDraft(std::span<const TokenId> tokens, std::span<const int> parents) override {
    DraftMasks masks;
    return matcher_.MaskDraft({tokens, parents}, &masks);
  }

  // What the library writes to rows by number is logits: an applier has the mask's words and the
  // row, and refuses what does not fit before it writes.
  absl::Status Write(const Misfit& misfit) override {
    absl::StatusOr<MaskWords> mask = Mask();
    if (!mask.ok()) return mask.status();
    const std::int64_t words = std::ssize(*mask) + misfit.more_words;
    mask->resize(static_cast<std::size_t>(std::max<std::int64_t>(words, 0)));
    const std::int64_t width = matcher_.grammar().tokenizer().vocabulary().size();
    std::vector<float> logits(static_cast<std::size_t>(width) * 2, 1.0F);
    const auto applier = client::MakeApplier("cpu");
    if (!applier.ok()) return Broken(applier.status().message());
    const client::MaskRow row = client::MaskRow::Dense(misfit.row, *mask);
    const absl::Status applied = (*applier)->Apply(
        {.vocab_size = width, .rows = {&row, 1}},
        {.data = logits.data(), .row_count = 1, .width = width, .row_stride = width});
    for (std::size_t i = static_cast<std::size_t>(width); i < logits.size(); ++i)
      if (logits[i] != 1.0F) return Broken("logits past the row were written");
    return applied;
  }

 private:
  // Null once finished.
  absl::StatusOr<MaskRef> Look() const {
    absl::StatusOr<MaskRef> mask = matcher_.Mask();
    if (!mask.ok()) return mask;
    const bool going_on = !matcher_.finished();
    if (going_on != (*mask != nullptr)) return Broken("no mask while the text goes on");
    if (going_on && (*mask)->empty()) return Broken("the mask is all zero");
    return mask;
  }

  absl::Status TakeOne(TokenId token) {
    const absl::StatusOr<MaskRef> mask = Look();
    if (!mask.ok()) return mask.status();
    const bool allowed = *mask == nullptr || (*mask)->Allows(token);
    const absl::Status taken = matcher_.Accept(token);
    if (allowed == taken.ok()) return taken;
    return Broken(absl::StrCat("token ", token, " is ", allowed ? "" : "not ",
                               "allowed, but: ", taken.ToString()));
  }

  Matcher matcher_;
};

class LibraryGrammar final : public Grammar {
 public:
  explicit LibraryGrammar(std::shared_ptr<const CompiledGrammar> grammar)
      : grammar_(std::move(grammar)) {}

  absl::StatusOr<std::unique_ptr<Row>> Open() override {
    return std::make_unique<LibraryRow>(Matcher(grammar_));
  }

 private:
  std::shared_ptr<const CompiledGrammar> grammar_;
};

}  // namespace

LibraryTarget::LibraryTarget(std::shared_ptr<TokenizerSpace> space) : space_(std::move(space)) {
  const Vocabulary& vocabulary = space_->vocabulary();
  tokens_ = {TextSplitter(vocabulary), vocabulary.size(), vocabulary.stop_ids(),
             vocabulary.special_ids()};
}

absl::StatusOr<std::unique_ptr<Grammar>> LibraryTarget::Compile(const std::string& format,
                                                                std::string payload) {
  const Limits limits;
  Budget budget{Budget::Bounds()};
  auto grammar = CompileGrammar({format, std::move(payload), {}}, space_, limits, budget);
  if (!grammar.ok()) return grammar.status();
  return std::make_unique<LibraryGrammar>(*std::move(grammar));
}

std::string LibraryTarget::ReasonOf(const absl::Status& refusal) const {
  return std::string(ErrorReason(refusal));
}

std::int64_t LibraryTarget::CachedBytes() { return space_->masks().stats().held_bytes; }

}  // namespace maskd::attack
