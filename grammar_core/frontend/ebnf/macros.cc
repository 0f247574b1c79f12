// Each macro is a row: its name and what makes an expression of its arguments. A dispatch is free
// text and tags that each lead to a rule. Where no tag can begin within the end of another string,
// one free text stands before all tags. Else each tag has the texts of which it is the first.
//
// Invariant  no tag or exclude is within another, so the first match at a place is the only one.
// Cost       the check of that looks up each piece of each string, for each length that occurs.
// Source     xgrammar's EBNF.
#include "grammar_core/frontend/ebnf/macros.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/frontend/ebnf/macro_arguments.h"
#include "grammar_core/frontend/notation/free_text.h"
#include "grammar_core/frontend/notation/substring.h"
#include "grammar_core/frontend/regex/regex.h"

namespace maskd {
namespace {

using Kind = MacroValue::Kind;

// A call of a macro, and what its reading needs.
struct MacroCall {
  std::size_t at;
  std::vector<MacroArgument> arguments;
  SourceReading& reading;
  SourceGrammar& grammar;

  [[nodiscard]] absl::Status Invalid(std::size_t where, absl::string_view message) const {
    return reading.cursor.Invalid(where, message);
  }
  [[nodiscard]] absl::Status Unknown(const MacroArgument& argument) const {
    return Invalid(argument.at, absl::StrCat("the macro has no argument of the name ",
                                             argument.name.substr(0, 64)));
  }
  [[nodiscard]] ExprId Characters(NodeId node, std::size_t size) const {
    return AddCharacters(grammar, node, size, at);
  }
  [[nodiscard]] ExprId Tokens(TokenSpec spec) const {
    spec.place = reading.lines.Place(at);
    const NodeId node = reading.builder.Tokens(std::move(spec));
    return grammar.Add({.kind = ExprKind::kBytes, .a = node, .at = at});
  }
  [[nodiscard]] ExprId Rule(const MacroValue& name) const {
    return grammar.Add({.kind = ExprKind::kName, .a = grammar.Symbol(name.text), .at = name.at});
  }
};

// Characters that stand for themselves in a JSON string.
CharSet PlainJsonChars() { return CharSet({{0, 0x1F}, {'"', '"'}, {'\\', '\\'}}).Complement(); }

absl::Status ReadRegexFlags(const MacroCall& call, const MacroValue& flags, RegexOptions* options) {
  if (flags.kind != Kind::kText) return call.Invalid(flags.at, "expected flags in quotes");
  options->dot_all = false;
  for (const char flag : flags.text)
    if (flag == 'i')
      options->fold = true;
    else if (flag == 's')
      options->dot_all = true;
    else if (flag != 'u')
      return call.Invalid(flags.at, "flags are of i, s and u");
  return absl::OkStatus();
}

// Without flags the dot is every character.
absl::StatusOr<ExprId> MakeRegex(const MacroCall& call) {
  if (call.arguments.empty() || call.arguments.front().value.kind != Kind::kText ||
      !call.arguments.front().name.empty()) {
    return call.Invalid(call.at, "Regex takes a pattern in quotes");
  }
  const MacroValue& pattern = call.arguments.front().value;
  RegexOptions options = {.place = call.reading.lines.Place(pattern.at),
                          .dot_all = true,
                          .shorthands = AsciiShorthands(),
                          .look_around = false};
  bool in_json = false;
  for (std::size_t i = 1; i < call.arguments.size(); ++i) {
    const MacroArgument& argument = call.arguments[i];
    if (argument.name == "flags") {
      const absl::Status status = ReadRegexFlags(call, argument.value, &options);
      if (!status.ok()) return status;
    } else if (argument.name == "json_string" && argument.value.kind == Kind::kTruth) {
      in_json = argument.value.number != 0;
    } else {
      return call.Unknown(argument);
    }
  }
  IrBuilder& builder = call.reading.builder;
  absl::StatusOr<NodeId> node =
      ReadRegex(pattern.text, options, call.reading.limits, call.reading.budget, builder);
  if (!node.ok()) return node.status();
  if (in_json) {
    const NodeId plain = builder.Repeat(builder.Chars(PlainJsonChars()), 0, kUnbounded);
    node = builder.And({*node, plain});
  }
  return call.Characters(*node, pattern.text.size());
}

absl::StatusOr<ExprId> MakeSubstring(const MacroCall& call) {
  std::vector<std::string> chunks;
  for (const MacroArgument& argument : call.arguments) {
    if (!argument.name.empty()) return call.Unknown(argument);
    if (argument.value.kind != Kind::kText)
      return call.Invalid(argument.at, "Substring takes texts in quotes");
    chunks.push_back(argument.value.text);
  }
  const absl::StatusOr<NodeId> node =
      SubstringOf(chunks, call.reading.budget, call.reading.builder);
  if (!node.ok()) return node.status();
  return call.Characters(*node, chunks.size());
}

absl::StatusOr<ExprId> MakeTokens(const MacroCall& call, bool negated) {
  if (call.arguments.empty()) return call.Invalid(call.at, "expected ids of tokens");
  TokenSpec spec;
  spec.negated = negated;
  for (const MacroArgument& argument : call.arguments) {
    if (!argument.name.empty()) return call.Unknown(argument);
    if (argument.value.kind != Kind::kNumber)
      return call.Invalid(argument.at, "the id of a token is a number");
    spec.ids.emplace_back(argument.value.number, argument.value.number);
  }
  return call.Tokens(std::move(spec));
}

absl::StatusOr<ExprId> MakeToken(const MacroCall& call) { return MakeTokens(call, false); }

absl::StatusOr<ExprId> MakeExcludeToken(const MacroCall& call) { return MakeTokens(call, true); }

// Free text or tokens, tags in it that each lead to a rule, and what must not occur.
struct Dispatch {
  struct Tag {
    MacroValue tag;
    MacroValue rule;
  };
  std::vector<Tag> tags;
  std::vector<MacroValue> excludes;
  bool loop = true;
};

absl::Status CheckTag(const MacroCall& call, const MacroValue& tag, Kind kind) {
  if (tag.kind == kind && (kind == Kind::kNumber || !tag.text.empty())) return absl::OkStatus();
  return call.Invalid(tag.at, kind == Kind::kText ? "expected a text in quotes that is not empty"
                                                  : "expected the id of a token");
}

absl::Status ReadDispatchOption(const MacroCall& call, const MacroArgument& argument, Kind kind,
                                Dispatch* dispatch) {
  const MacroValue& value = argument.value;
  if (argument.name == "loop_after_dispatch") {
    if (value.kind != Kind::kTruth) return call.Invalid(value.at, "expected true or false");
    dispatch->loop = value.number != 0;
    return absl::OkStatus();
  }
  if (argument.name != "excludes") return call.Unknown(argument);
  if (value.kind != Kind::kTuple) return call.Invalid(value.at, "expected a tuple: (value, ...)");
  for (const MacroValue& exclude : value.elements) {
    if (absl::Status status = CheckTag(call, exclude, kind); !status.ok()) return status;
    dispatch->excludes.push_back(exclude);
  }
  return absl::OkStatus();
}

// `kind` is that of the tags.
absl::StatusOr<Dispatch> ReadDispatch(const MacroCall& call, Kind kind) {
  Dispatch dispatch;
  for (const MacroArgument& argument : call.arguments) {
    const MacroValue& value = argument.value;
    if (!argument.name.empty()) {
      const absl::Status status = ReadDispatchOption(call, argument, kind, &dispatch);
      if (!status.ok()) return status;
      continue;
    }
    const bool pair = value.kind == Kind::kTuple && value.elements.size() == 2 &&
                      value.elements[1].kind == Kind::kName;
    if (!pair) return call.Invalid(argument.at, "expected a pair: (tag, rule)");
    const absl::Status status = CheckTag(call, value.elements[0], kind);
    if (!status.ok()) return status;
    dispatch.tags.push_back({value.elements[0], value.elements[1]});
  }
  return dispatch;
}

// A tag and its rule behind free text, again and again or once, and `free` behind the last.
// `before` is the free text that the heads do not have yet, one for all of them.
ExprId MakeDispatch(const MacroCall& call, const Dispatch& dispatch,
                    const std::vector<ExprId>& heads, ExprId free, std::optional<ExprId> before) {
  SourceGrammar& grammar = call.grammar;
  std::vector<ExprId> ways;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const ExprId rule = call.Rule(dispatch.tags[i].rule);
    ways.push_back(grammar.Add({.kind = ExprKind::kSequence, .at = call.at}, {heads[i], rule}));
  }
  ExprId way = grammar.Add({.kind = ExprKind::kChoice, .at = call.at}, ways);
  if (before.has_value())
    way = grammar.Add({.kind = ExprKind::kSequence, .at = call.at}, {*before, way});
  if (!dispatch.loop) return grammar.Add({.kind = ExprKind::kChoice, .at = call.at}, {way, free});
  const ExprId all =
      grammar.Add({.kind = ExprKind::kRepeat, .a = 0, .b = kUnbounded, .at = call.at}, {way});
  return grammar.Add({.kind = ExprKind::kSequence, .at = call.at}, {all, free});
}

// The strings of one kind, tags or excludes, by their texts, and the lengths that they have.
struct Listed {
  absl::btree_map<absl::string_view, const MacroValue*> strings;
  absl::btree_set<std::size_t> sizes;

  void Add(const MacroValue& string) {
    strings.try_emplace(string.text, &string);
    sizes.insert(string.text.size());
  }
};

// Refuses `text` if a string of `listed` is in it, itself left out where it is `own` kind.
absl::Status CheckHoldsNone(const MacroCall& call, const Listed& listed, absl::string_view text,
                            bool own, bool excluded_from_tag) {
  for (const std::size_t size : listed.sizes) {
    for (std::size_t at = 0; at + size <= text.size(); ++at) {
      if (absl::Status status = call.reading.budget.Spend(); !status.ok()) return status;
      const auto inner = listed.strings.find(text.substr(at, size));
      if (inner == listed.strings.end() || (own && size == text.size())) continue;
      if (excluded_from_tag && at == 0)
        return call.Invalid(inner->second->at, "what is excluded must not begin a tag");
      return call.reading.cursor.Unsupported(inner->second->at, "a tag or exclude within another");
    }
  }
  return absl::OkStatus();
}

// Refuses strings of which one is in another, unless they are equal tags.
absl::Status CheckApart(const MacroCall& call, const Dispatch& dispatch) {
  Listed tags;
  for (const Dispatch::Tag& tag : dispatch.tags) tags.Add(tag.tag);
  Listed excludes;
  for (const MacroValue& exclude : dispatch.excludes) excludes.Add(exclude);
  for (const auto& [text, value] : tags.strings) {
    absl::Status status = CheckHoldsNone(call, tags, text, true, false);
    if (status.ok()) status = CheckHoldsNone(call, excludes, text, false, true);
    if (!status.ok()) return status;
  }
  for (const auto& [text, value] : excludes.strings) {
    absl::Status status = CheckHoldsNone(call, tags, text, false, false);
    if (status.ok()) status = CheckHoldsNone(call, excludes, text, true, false);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Whether one of `texts` ends as one of the tags begins, so that it may end within that tag.
bool Overlap(const Dispatch& dispatch, const std::vector<std::string>& texts) {
  absl::flat_hash_set<absl::string_view> beginnings;
  for (const Dispatch::Tag& tag : dispatch.tags) {
    const absl::string_view text = tag.tag.text;
    for (std::size_t size = 1; size < text.size(); ++size) beginnings.insert(text.substr(0, size));
  }
  for (const absl::string_view text : texts) {
    for (std::size_t at = 1; at < text.size(); ++at)
      if (beginnings.contains(text.substr(at))) return true;
  }
  return false;
}

// Where nothing overlaps a tag, tags stand behind any free text, which is one for all of them;
// else each stands behind the texts of which it is the first.
absl::StatusOr<ExprId> MakeTagDispatch(const MacroCall& call) {
  const absl::StatusOr<Dispatch> dispatch = ReadDispatch(call, Kind::kText);
  if (!dispatch.ok()) return dispatch.status();
  if (absl::Status status = CheckApart(call, *dispatch); !status.ok()) return status;
  std::vector<std::string> listed;
  for (const Dispatch::Tag& tag : dispatch->tags) listed.push_back(tag.tag.text);
  for (const MacroValue& exclude : dispatch->excludes) listed.push_back(exclude.text);
  IrBuilder& builder = call.reading.builder;
  const NodeId strings = builder.TextSet(listed);
  const bool overlap = Overlap(*dispatch, listed);
  std::vector<ExprId> heads;
  for (const Dispatch::Tag& tag : dispatch->tags) {
    const absl::string_view text = tag.tag.text;
    heads.push_back(
        call.Characters(overlap ? TextUpTo(text, strings, builder) : builder.Text(text), 1));
  }
  const ExprId free = call.Characters(TextWithout(strings, builder), 1);
  return MakeDispatch(call, *dispatch, heads, free, overlap ? std::nullopt : std::optional(free));
}

absl::StatusOr<ExprId> MakeTokenTagDispatch(const MacroCall& call) {
  const absl::StatusOr<Dispatch> dispatch = ReadDispatch(call, Kind::kNumber);
  if (!dispatch.ok()) return dispatch.status();
  SourceGrammar& grammar = call.grammar;
  TokenSpec others;
  others.negated = true;
  for (const MacroValue& exclude : dispatch->excludes) {
    for (const Dispatch::Tag& tag : dispatch->tags) {
      if (tag.tag.number != exclude.number) continue;
      return call.Invalid(exclude.at, "the token is a tag and excluded");
    }
    others.ids.emplace_back(exclude.number, exclude.number);
  }
  for (const Dispatch::Tag& tag : dispatch->tags)
    others.ids.emplace_back(tag.tag.number, tag.tag.number);
  const ExprId other = call.Tokens(others);
  const ExprId free =
      grammar.Add({.kind = ExprKind::kRepeat, .a = 0, .b = kUnbounded, .at = call.at}, {other});
  std::vector<ExprId> heads;
  for (const Dispatch::Tag& tag : dispatch->tags)
    heads.push_back(call.Tokens({.ids = {{tag.tag.number, tag.tag.number}}}));
  return MakeDispatch(call, *dispatch, heads, free, free);
}

struct Macro {
  absl::string_view name;
  absl::StatusOr<ExprId> (*make)(const MacroCall&);
};
constexpr std::array kMacros = {
    Macro{"ExcludeToken", &MakeExcludeToken},
    Macro{"Regex", &MakeRegex},
    Macro{"Substring", &MakeSubstring},
    Macro{"TagDispatch", &MakeTagDispatch},
    Macro{"Token", &MakeToken},
    Macro{"TokenTagDispatch", &MakeTokenTagDispatch},
};

const Macro* FindMacro(absl::string_view name) {
  const auto* const found = std::find_if(kMacros.begin(), kMacros.end(),
                                         [&](const Macro& macro) { return macro.name == name; });
  return found == kMacros.end() ? nullptr : found;
}

}  // namespace

bool IsMacro(absl::string_view name) { return FindMacro(name) != nullptr; }

absl::StatusOr<ExprId> ReadMacro(absl::string_view name, std::size_t at, SourceReading& reading,
                                 SourceGrammar& grammar) {
  absl::StatusOr<std::vector<MacroArgument>> arguments = ReadMacroArguments(reading);
  if (!arguments.ok()) return arguments.status();
  return FindMacro(name)->make({at, *std::move(arguments), reading, grammar});
}

}  // namespace maskd
