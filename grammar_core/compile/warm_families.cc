#include "grammar_core/compile/warm_families.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/work.h"
#include "grammar_core/compile/compiled_grammar.h"
#include "grammar_core/compile/compiler.h"
#include "grammar_core/frontend/chat/family.h"
#include "grammar_core/frontend/json_schema/schema_store.h"
#include "grammar_core/mask/token_index.h"
#include "grammar_core/rows/masked_automaton.h"
#include "grammar_core/tokenizer/marker_table.h"

namespace maskd {
namespace {

// A tool with arguments of the usual types.
constexpr absl::string_view kRequest =
    R"("request":{"tools":[{"type":"function","function":{"name":"get","parameters":)"
    R"({"type":"object","properties":{"path":{"type":"string"},"count":{"type":"integer"}},)"
    R"("required":["path"]}}}]}})";
// A text of any kind: what comes is then within one.
constexpr absl::string_view kText = "I ";

class FamilyWalk {
 public:
  explicit FamilyWalk(const CompiledGrammar& grammar)
      : automaton_(grammar.automaton()),
        index_(grammar.tokenizer().index()),
        markers_(grammar.tokenizer().markers()) {}

  int masks() const { return masks_; }

  // From the start on: what begins the text, some of it, and then each of `ends`.
  void Walk(absl::string_view begin, const std::vector<std::string>& ends) {
    MakeMask(automaton_->start());
    const TermId within = Follow(Follow(automaton_->start(), begin), kText);
    for (const std::string& end : ends) Follow(within, end);
  }

 private:
  // As a model writes `text`: markers are tokens, the rest is cut into the longest ones. A token
  // may also begin a text by its first byte alone.
  TermId Follow(TermId state, absl::string_view text) {
    for (const auto& [piece, marker] : markers_.Cut(text)) {
      if (marker != MarkerTable::kNone) {
        state = MakeMask(Behind(state, marker));
        continue;
      }
      if (state != kNothingTerm) MakeMask(StepByte(state, piece.front()));
      for (absl::string_view rest = piece; !rest.empty();) {
        const TokenId id = index_.FindLongest(rest);
        if (id < 0) return kNothingTerm;
        state = MakeMask(Behind(state, id));
        rest.remove_prefix(index_.vocabulary().TokenBytes(id).size());
      }
    }
    return state;
  }

  TermId MakeMask(TermId state) {
    if (state != kNothingTerm && automaton_->Mask(state, work_) != nullptr) ++masks_;
    return state;
  }

  TermId Behind(TermId state, TokenId id) {
    if (state == kNothingTerm) return state;
    std::size_t taken = 0;
    return Known(automaton_->StepToken(state, id, &taken, work_));
  }

  TermId StepByte(TermId state, char byte) {
    return Known(automaton_->Step(state, static_cast<unsigned char>(byte), work_));
  }

  static TermId Known(TermId state) { return state == kFailedTerm ? kNothingTerm : state; }

  const std::shared_ptr<MaskedAutomaton> automaton_;
  const TokenIndex& index_;
  const MarkerTable& markers_;
  Budget budget_ = Budget::Unlimited();
  Work work_{budget_};
  int masks_ = 0;
};

std::shared_ptr<const CompiledGrammar> Compiled(const ChatFamily& family, absl::string_view mode,
                                                const std::shared_ptr<TokenizerSpace>& tokenizer) {
  Budget budget = Budget::Unlimited();
  const std::string source =
      absl::StrCat(R"({"family":")", family.name, R"(","reasoning":")", mode, R"(",)", kRequest);
  auto grammar = CompileGrammar({"chat", source, {}}, tokenizer, Limits(), budget);
  return grammar.ok() ? *std::move(grammar) : nullptr;
}

}  // namespace

int WarmFamilies(const std::shared_ptr<TokenizerSpace>& tokenizer) {
  int masks = 0;
  const auto walk = [&](const ChatFamily& family, absl::string_view mode, absl::string_view begin,
                        const std::vector<std::string>& ends) {
    const auto grammar = Compiled(family, mode, tokenizer);
    if (grammar == nullptr) return;
    FamilyWalk walk(*grammar);
    walk.Walk(begin, ends);
    masks += walk.masks();
  };
  for (const EmbeddedJson& file : ChatFamilyFiles()) {
    const absl::StatusOr<ChatFamily> family = FindChatFamily(file.uri, "");
    if (!family.ok()) continue;
    std::vector<std::string> in_content = family->excludes;
    in_content.push_back(family->trigger);
    const auto& reasoning = family->reasoning;
    if (reasoning.has_value()) {
      in_content.push_back(reasoning->begin);
      in_content.insert(in_content.end(), reasoning->ends.begin(), reasoning->ends.end());
      walk(*family, "on", reasoning->begin, reasoning->ends);
    }
    walk(*family, "off", family->answer.has_value() ? family->answer->begin : "", in_content);
  }
  // No request has the schema above, and its figures are not those of requests.
  tokenizer->schemas().Reset();
  return masks;
}

}  // namespace maskd
