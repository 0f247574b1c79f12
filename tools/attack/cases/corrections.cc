#include "tools/attack/cases/corrections.h"

#include <array>

namespace maskd::attack {
namespace {

using Json = nlohmann::json;

// What comes after the end counts as success and changes nothing.
void LetTokensFollowTheEnd(Json* attack) {
  bool ended = false;
  for (Json& step : attack->at("steps")) {
    const std::string op = step.at("op");
    const bool takes = op == "end" || op == "accept_text" || op == "accept_token";
    if (ended && takes) step["ok"] = true;
    ended = ended || (op == "end" && step.value("ok", true));
  }
}

// The size that the client names is too small.
void NameASizeTooSmall(Json* attack) {
  for (Json& step : attack->at("steps"))
    if (step.contains("vocab_size_delta")) step["vocab_size_delta"] = -1;
}

void RefuseByName(Json* attack) {
  (*attack)["expected"] = "error";
  (*attack)["codes"] = {"UNIMPLEMENTED"};
  for (Json& step : attack->at("steps"))
    if (step.contains("want")) step["want"] = "UNIMPLEMENTED";
}

struct Correction {
  const char* id;
  const char* why;
  void (*apply)(Json* attack);
};

constexpr const char* kAfterTheEnd =
    "tokens after the end count as success and change nothing, so that an engine may have sampled "
    "ahead";

constexpr std::array kCorrections = {
    Correction{"matcher-end-twice", kAfterTheEnd, &LetTokensFollowTheEnd},
    Correction{"matcher-token-after-end", kAfterTheEnd, &LetTokensFollowTheEnd},
    Correction{"service-vocab-size-mismatch",
               "a hello names the width of the logits, and models pad: one more than the tokenizer "
               "has is right, one less is refused",
               &NameASizeTooSmall},
    Correction{"wire-unknown-fields",
               "a field that the server does not act on is refused by name, never ignored",
               &RefuseByName},
};

}  // namespace

std::string Correct(Json* attack) {
  const std::string id = attack->at("id");
  for (const Correction& correction : kCorrections) {
    if (id != correction.id || !attack->contains("steps")) continue;
    correction.apply(attack);
    return correction.why;
  }
  return "";
}

}  // namespace maskd::attack
