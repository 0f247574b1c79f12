#include "tests/attacks/matcher_session.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "tests/attacks/attack_run.h"
#include "tests/attacks/text_expression.h"

namespace maskd {
namespace {

using Json = nlohmann::json;

constexpr int kSpecialSteps = 4;

absl::Status Broken(absl::string_view what) { return absl::InternalError(what); }

}  // namespace

MatcherSession::MatcherSession(std::shared_ptr<const CompiledGrammar> grammar,
                               const TextSplitter* splitter)
    : matcher_(std::move(grammar)), splitter_(splitter) {}

absl::Status MatcherSession::TakeWhole(absl::string_view text) {
  if (absl::Status taken = TakeText(text); !taken.ok()) return taken;
  return TakeEnd();
}

absl::Status MatcherSession::TakeToken(std::int64_t token) {
  const std::int64_t size = matcher_.grammar().tokenizer().vocabulary().size();
  if (token < 0 || token >= size) {
    // What a TokenId cannot hold is refused by the type, before any call.
    if (token < std::numeric_limits<TokenId>::min() ||
        token > std::numeric_limits<TokenId>::max()) {
      return absl::InvalidArgumentError("no TokenId");
    }
    const absl::Status taken = matcher_.Accept(static_cast<TokenId>(token));
    return taken.ok() ? Broken(absl::StrCat("took token ", token)) : taken;
  }
  const auto id = static_cast<TokenId>(token);
  const bool was_finished = matcher_.finished();
  if (absl::Status looked = LookAtMask(); !looked.ok()) return looked;
  const absl::Status taken = matcher_.Accept(id);
  if (!was_finished && last_mask_->Allows(id) != taken.ok()) {
    return Broken(absl::StrCat("token ", id, " is ", last_mask_->Allows(id) ? "" : "not ",
                               "allowed, but: ", taken.ToString()));
  }
  return taken;
}

absl::Status MatcherSession::TakeText(absl::string_view text) {
  const std::optional<std::vector<TokenId>> tokens = splitter_->Longest(text);
  if (!tokens.has_value()) return absl::InvalidArgumentError("the vocabulary lacks a byte of it");
  int count = 0;
  for (const TokenId token : *tokens) {
    if (absl::Status taken = TakeToken(token); !taken.ok()) {
      const absl::Status back = matcher_.Rollback(count);
      return back.ok()
                 ? absl::Status(taken.code(), absl::StrCat("after ", count, " of ", tokens->size(),
                                                           " tokens: ", taken.message()))
                 : Broken(back.message());
    }
    ++count;
  }
  return absl::OkStatus();
}

absl::Status MatcherSession::TakeEnd() {
  return TakeToken(matcher_.grammar().tokenizer().vocabulary().stop_ids().front());
}

absl::Status MatcherSession::LookAtMask() {
  absl::StatusOr<MaskRef> mask = matcher_.Mask();
  if (!mask.ok()) return mask.status();
  last_mask_ = *std::move(mask);
  const bool going_on = !matcher_.finished();
  if (going_on != (last_mask_ != nullptr)) return Broken("no mask while the text goes on");
  return going_on && last_mask_->empty() ? Broken("the mask is all zero") : absl::OkStatus();
}

absl::Status MatcherSession::CheckSpecialTokens() {
  const Vocabulary& vocabulary = matcher_.grammar().tokenizer().vocabulary();
  Matcher ahead = matcher_.Fork();
  for (int step = 0; step < kSpecialSteps && !ahead.finished(); ++step) {
    const absl::StatusOr<MaskRef> mask = ahead.Mask();
    if (!mask.ok()) return mask.status();
    TokenId next = -1;
    bool special = false;
    (*mask)->VisitAllowed([&](TokenId token) {
      if (next < 0) next = token;
      const bool is_stop =
          std::ranges::find(vocabulary.stop_ids(), token) != vocabulary.stop_ids().end();
      special = special || (vocabulary.IsSpecial(token) && !is_stop);
    });
    if (special) return Broken("a special token is allowed");
    if (absl::Status taken = ahead.Accept(next); !taken.ok()) return taken;
  }
  return absl::OkStatus();
}

absl::Status MatcherSession::ForkAndCompare(int count) {
  if (absl::Status looked = LookAtMask(); !looked.ok()) return looked;
  std::vector<Matcher> copies;
  for (int i = 0; i < count; ++i) copies.push_back(matcher_.Fork());
  for (Matcher& copy : copies) {
    const absl::StatusOr<MaskRef> mask = copy.Mask();
    if (!mask.ok()) return mask.status();
    if (!(**mask == *last_mask_)) return Broken("a fork has another mask");
  }
  return absl::OkStatus();
}

absl::Status MatcherSession::MaskDraft(const Json& step) const {
  const auto tokens = step.at("tokens").get<std::vector<TokenId>>();
  const auto children = step.at("next").get<std::vector<int>>();
  const auto siblings = step.at("sibling").get<std::vector<int>>();
  // A link out of the table stays one: more parents than tokens.
  std::vector<int> parents(tokens.size(), -1);
  for (std::size_t parent = 0; parent < children.size(); ++parent) {
    std::size_t links = 0;
    for (int child = children[parent]; child != -1 && links++ <= tokens.size();
         child = static_cast<std::size_t>(child) < siblings.size() ? siblings[child] : -1) {
      if (static_cast<std::size_t>(child) >= parents.size()) parents.resize(child + 1, -1);
      parents[child] = static_cast<int>(parent);
    }
  }
  DraftMasks masks;
  return matcher_.MaskDraft({tokens, parents}, &masks);
}

absl::Status MatcherSession::RunStep(const Json& step) {
  const std::string op = step.at("op");
  if (op == "mask" || op == "mask_nonzero") return LookAtMask();
  if (op == "mask_same") {
    const MaskRef before = last_mask_;
    if (absl::Status looked = LookAtMask(); !looked.ok()) return looked;
    const bool same = before == nullptr || *before == *last_mask_;
    return same ? absl::OkStatus() : Broken("the mask has changed");
  }
  if (op == "accept_text") {
    const absl::StatusOr<std::string> text = ExpandText(step.at("text"));
    return text.ok() ? TakeText(*text) : text.status();
  }
  if (op == "accept_token") {
    const Json& token = step.at("token");
    return TakeToken(token.is_string() ? matcher_.grammar().tokenizer().vocabulary().size()
                                       : token.get<std::int64_t>());
  }
  if (op == "end") return TakeEnd();
  if (op == "rollback") return matcher_.Rollback(step.at("n"));
  if (op == "rollback_all") return matcher_.Rollback(matcher_.token_count());
  if (op == "fork") return ForkAndCompare(step.at("n"));
  if (op == "draft_tree") return MaskDraft(step);
  if (op == "special_masked") return CheckSpecialTokens();
  return absl::UnimplementedError(op);
}

void MatcherSession::RunSteps(const Json& steps, AttackResult* result) {
  for (const Json& step : steps) {
    const absl::Status done = RunStep(step);
    if (absl::IsUnimplemented(done)) {
      result->missing_operations.emplace_back(done.message());
      continue;
    }
    const bool either = step.value("may_fail", false);
    const bool wanted = step.value("ok", true);
    if (absl::IsInternal(done) || (!either && done.ok() != wanted)) {
      result->faults.push_back(absl::StrCat(step.dump(), ": ", done.ToString()));
    }
  }
}

}  // namespace maskd
