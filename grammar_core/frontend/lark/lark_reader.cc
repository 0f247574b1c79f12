// Reads definitions and directives one after another; expansion_reader.cc reads what stands behind
// the ':'. What the text must be whole for comes at the end: what is ignored, the order of lazy
// terminals, the rules. Names that no text can write ("%ignore 1", "%extend 7") hold what is made
// on the way.
//
// Invariant  a name has one definition: the last, of which %extend keeps the one before as a
//            choice.
// Cost       linear in the text, and that of PutLazyFirst() where a rule is lazy.
// Source     Lark's grammar; llguidance's extensions.
#include "grammar_core/frontend/lark/lark_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/frontend/lark/common_terminals.h"
#include "grammar_core/frontend/lark/embedded_json.h"
#include "grammar_core/frontend/lark/lark_names.h"
#include "grammar_core/frontend/lark/lazy_order.h"
#include "grammar_core/frontend/notation/grammar_compiler.h"
#include "grammar_core/frontend/regex/regex.h"

namespace maskd {

LarkReader::LarkReader(const GrammarOptions& options, std::int64_t depth, SourceReading* reading)
    : options_(options), depth_(depth), reading_(*reading), cursor_(reading->cursor) {}

absl::StatusOr<RuleId> LarkReader::Read() {
  const std::size_t begin = cursor_.at();
  PassLines(cursor_);
  while (!AtEnd()) {
    if (absl::Status status = ReadItem(); !status.ok()) return status;
    if (absl::Status status = PassItemEnd(); !status.ok()) return status;
    PassLines(cursor_);
  }
  if (depth_ > 0 && !cursor_.Take("}"))
    return cursor_.Invalid(begin - 1, "the grammar has no end, expected '}'");
  const Definition* start = grammar_.Find("start");
  if (start == nullptr)
    return cursor_.Invalid(begin, "there is no rule \"start\", with which the text begins");
  if (start->parameters > 0 || start->indexed)
    return cursor_.Invalid(start->at, "the rule \"start\" takes no parameters");
  if (absl::Status status = EndIgnored(); !status.ok()) return status;
  const SymbolId first = grammar_.Symbol("start");
  if (absl::Status status = PutLazyFirst(first, reading_, grammar_); !status.ok()) return status;
  return GrammarCompiler(grammar_, reading_.lines, reading_.limits, reading_.budget,
                         reading_.builder)
      .Compile(first);
}

bool LarkReader::AtEnd() const { return cursor_.done() || (depth_ > 0 && cursor_.Peek() == '}'); }

absl::Status LarkReader::PassItemEnd() const {
  if (AtEnd() || cursor_.Peek() == '\n' || cursor_.Peek() == '\r') return absl::OkStatus();
  return cursor_.Expected("the end of the line");
}

absl::Status LarkReader::ReadItem() {
  if (absl::Status status = reading_.budget.Spend(); !status.ok()) return status;
  absl::Status status = cursor_.Peek() == '%' ? ReadDirective() : ReadDefinition(Mode::kNew);
  PassInlineSpace(cursor_);
  return status;
}

absl::Status LarkReader::ReadDirective() {
  const std::size_t at = cursor_.at();
  cursor_.Next();
  const absl::string_view word = TakeWord(reading_);
  PassInlineSpace(cursor_);
  if (word == "ignore") return ReadIgnore(at);
  if (word == "import") return ReadImport();
  if (word == "override") return ReadDefinition(Mode::kOverride);
  if (word == "extend") return ReadDefinition(Mode::kExtend);
  if (word == "llguidance" || word == "grammar_options") return ReadLarkOptions(reading_, grammar_);
  if (word == "declare") return cursor_.Unsupported(at, "%declare");
  return cursor_.Invalid(
      at, "expected %ignore, %import, %override, %extend, %llguidance or %grammar_options");
}

// module.NAME, module.NAME -> OTHER, or module (NAME, ...).
absl::Status LarkReader::ReadImport() {
  const std::size_t at = cursor_.at();
  const bool relative = cursor_.Take(".");
  const absl::StatusOr<absl::string_view> module = ReadLarkName(reading_, "the name of a module");
  if (!module.ok()) return module.status();
  if (relative ||
      (*module != "common" && (*module == "lark" || *module == "python" || *module == "unicode"))) {
    return cursor_.Unsupported(at, absl::StrCat("%import from ", relative ? "files" : *module));
  }
  if (*module != "common") {
    return cursor_.Invalid(
        at, absl::StrCat("there is no module \"", module->substr(0, 64), "\"; known is common"));
  }
  PassInlineSpace(cursor_);
  if (cursor_.Take("(")) return ReadImportedNames();
  if (!cursor_.Take(".")) return cursor_.Expected("'.' and a name, or '('");
  const std::size_t name_at = cursor_.at();
  const absl::StatusOr<absl::string_view> name = ReadLarkName(reading_, "a name");
  if (!name.ok()) return name.status();
  PassInlineSpace(cursor_);
  if (!cursor_.Take("->")) return ImportTerminal(*name, name_at, *name);
  PassInlineSpace(cursor_);
  const std::size_t alias_at = cursor_.at();
  const absl::StatusOr<absl::string_view> alias = ReadLarkName(reading_, "a name");
  if (!alias.ok()) return alias.status();
  if (!IsTerminalName(*alias))
    return cursor_.Invalid(alias_at, "a terminal's name is in upper case");
  return ImportTerminal(*name, name_at, *alias);
}

// Behind "(".
absl::Status LarkReader::ReadImportedNames() {
  do {
    PassInlineSpace(cursor_);
    const std::size_t at = cursor_.at();
    const absl::StatusOr<absl::string_view> name = ReadLarkName(reading_, "a name");
    if (!name.ok()) return name.status();
    if (absl::Status status = ImportTerminal(*name, at, *name); !status.ok()) return status;
    PassInlineSpace(cursor_);
  } while (cursor_.Take(","));
  return cursor_.Take(")") ? absl::OkStatus() : cursor_.Expected("',' or ')'");
}

// The same import again changes nothing.
absl::Status LarkReader::ImportTerminal(absl::string_view name, std::size_t at,
                                        absl::string_view as) {
  const std::string pattern = CommonTerminal(name);
  if (pattern.empty()) {
    return cursor_.Invalid(at, absl::StrCat("common has no terminal \"", name.substr(0, 64),
                                            "\"; it has ", CommonTerminalNames()));
  }
  const auto [known, is_new] = imported_.try_emplace(std::string(as), name);
  if (!is_new && known->second == name) return absl::OkStatus();
  if (absl::Status status = reading_.CheckNew(grammar_, as, at); !status.ok()) return status;
  const absl::StatusOr<NodeId> node =
      ReadRegex(pattern, {}, reading_.limits, reading_.budget, reading_.builder);
  if (!node.ok()) return node.status();
  const ExprId body = AddCharacters(grammar_, *node, pattern.size(), at);
  grammar_.Define(
      {.symbol = grammar_.Symbol(as), .at = at, .first = body, .body = body, .terminal = true});
  return absl::OkStatus();
}

absl::Status LarkReader::ReadIgnore(std::size_t at) {
  const ExpansionContext context{.terminal = true, .depth = depth_};
  const auto first = static_cast<ExprId>(grammar_.expressions.size());
  const absl::StatusOr<ExprId> body = ReadExpansion(context);
  if (!body.ok()) return body.status();
  // A name that no definition can have.
  const SymbolId symbol = grammar_.Symbol(absl::StrCat("%ignore ", ignored_.size() + 1));
  grammar_.Define({.symbol = symbol, .at = at, .first = first, .body = *body, .terminal = true});
  ignored_.push_back(symbol);
  return absl::OkStatus();
}

absl::Status LarkReader::EndIgnored() {
  if (ignored_.empty()) return absl::OkStatus();
  const auto first = static_cast<ExprId>(grammar_.expressions.size());
  std::vector<ExprId> all;
  for (const SymbolId symbol : ignored_) {
    const std::size_t at = grammar_.definitions[*grammar_.definition_of[symbol]].at;
    all.push_back(grammar_.Add(
        {.kind = ExprKind::kName, .use = ExprUse::kCharacters, .a = symbol, .at = at}));
  }
  const std::size_t at = grammar_.expressions[all.front()].at;
  const ExprId body = grammar_.Add({.kind = ExprKind::kChoice, .at = at}, all);
  const SymbolId symbol = grammar_.Symbol("%ignore");
  grammar_.Define({.symbol = symbol, .at = at, .first = first, .body = body, .terminal = true});
  grammar_.ignored = grammar_.definition_of[symbol];
  return absl::OkStatus();
}

absl::Status LarkReader::ReadDefinition(Mode mode) {
  const auto first = static_cast<ExprId>(grammar_.expressions.size());
  const absl::StatusOr<Header> header = ReadHeader();
  if (!header.ok()) return header.status();
  if (absl::Status status = CheckMode(mode, *header); !status.ok()) return status;
  absl::StatusOr<ExprId> body = ReadBody(*header);
  if (!body.ok()) return body.status();
  if (mode == Mode::kExtend) body = Extended(*body, *header);
  grammar_.Define({.symbol = grammar_.Symbol(header->name),
                   .at = header->at,
                   .first = first,
                   .body = *body,
                   .terminal = IsTerminalName(header->name),
                   .parameters = static_cast<std::uint32_t>(header->parameters.size()),
                   .indexed = header->indexed});
  return absl::OkStatus();
}

// name, name::_, name{parameters}, then .priority, [attributes] and ':'.
absl::StatusOr<LarkReader::Header> LarkReader::ReadHeader() {
  const std::size_t modifiers = cursor_.at();
  if (!cursor_.Take("!?") && !cursor_.Take("?!") && !cursor_.Take("!")) cursor_.Take("?");
  Header header;
  header.at = cursor_.at();
  const absl::StatusOr<absl::string_view> name =
      ReadLarkName(reading_, "a rule, a terminal or a directive");
  if (!name.ok()) return name.status();
  header.name = std::string(*name);
  const bool terminal = IsTerminalName(*name);
  if (terminal && header.at > modifiers)
    return cursor_.Invalid(modifiers, "'!' and '?' stand before rules only");
  PassInlineSpace(cursor_);
  if (cursor_.Take("::")) {
    PassInlineSpace(cursor_);
    if (terminal || !cursor_.Take("_")) return cursor_.Expected("'_' behind a rule's '::'");
    header.indexed = true;
    PassInlineSpace(cursor_);
  }
  if (absl::Status status = ReadParameters(&header); !status.ok()) return status;
  if (absl::Status status = ReadPriority(); !status.ok()) return status;
  if (!terminal && cursor_.Take("[")) {
    absl::StatusOr<RuleAttributes> attributes = ReadRuleAttributes(reading_, grammar_);
    if (!attributes.ok()) return attributes.status();
    header.attributes = *attributes;
    BookTemperature(header);
    PassInlineSpace(cursor_);
  }
  if (!cursor_.Take(":")) return cursor_.Expected("':'");
  return header;
}

void LarkReader::BookTemperature(const Header& header) {
  if (!header.attributes.temperature.has_value()) return;
  if (depth_ == 0 && header.name == "start")
    reading_.temperature = header.attributes.temperature;
  else
    reading_.Warn(header.attributes.at, kPartialTemperature);
}

absl::Status LarkReader::ReadParameters(Header* header) {
  if (!cursor_.Take("{")) return absl::OkStatus();
  const bool terminal = IsTerminalName(header->name);
  do {
    PassInlineSpace(cursor_);
    const std::size_t at = cursor_.at();
    const absl::StatusOr<absl::string_view> name = ReadLarkName(reading_, "a parameter");
    if (!name.ok()) return name.status();
    if (IsTerminalName(*name) != terminal)
      return cursor_.Invalid(at, "a parameter is in the case of its template's name");
    const std::vector<std::string>& before = header->parameters;
    if (std::find(before.begin(), before.end(), *name) != before.end())
      return cursor_.Invalid(at, "the parameter stands before");
    header->parameters.emplace_back(*name);
    PassInlineSpace(cursor_);
  } while (cursor_.Take(","));
  if (!cursor_.Take("}")) return cursor_.Expected("',' or '}'");
  PassInlineSpace(cursor_);
  return absl::OkStatus();
}

// Priorities choose among trees of a text, not among texts.
absl::Status LarkReader::ReadPriority() {
  if (!cursor_.Take(".")) return absl::OkStatus();
  PassInlineSpace(cursor_);
  if (!cursor_.Take("-")) cursor_.Take("+");
  if (cursor_.Peek() < '0' || cursor_.Peek() > '9') return cursor_.Expected("a priority: a number");
  while (cursor_.Peek() >= '0' && cursor_.Peek() <= '9') cursor_.Next();
  PassInlineSpace(cursor_);
  return absl::OkStatus();
}

absl::Status LarkReader::CheckMode(Mode mode, const Header& header) const {
  if (mode == Mode::kNew) return reading_.CheckNew(grammar_, header.name, header.at);
  const Definition* before = grammar_.Find(header.name);
  if (before == nullptr) {
    return cursor_.Invalid(
        header.at, absl::StrCat("\"", header.name.substr(0, 64), "\" is not defined before"));
  }
  const bool plain = before->parameters == 0 && !before->indexed && header.parameters.empty() &&
                     !header.indexed && !header.attributes.is_terminal() &&
                     !header.attributes.max_chars.has_value() &&
                     !header.attributes.max_tokens.has_value();
  if (mode == Mode::kExtend && !plain)
    return cursor_.Unsupported(header.at, "%extend with parameters or attributes");
  return absl::OkStatus();
}

absl::StatusOr<ExprId> LarkReader::ReadBody(const Header& header) {
  const RuleAttributes& attributes = header.attributes;
  ExpansionContext context{.terminal = IsTerminalName(header.name) || attributes.is_terminal(),
                           .needs_characters = attributes.max_chars.has_value(),
                           .indexed = header.indexed,
                           .parameters = header.parameters,
                           .depth = depth_};
  // A temperature holds for one terminal or one grammar in this one.
  PassInlineSpace(cursor_);
  const bool one_terminal =
      attributes.temperature.has_value() && !attributes.is_terminal() && cursor_.Peek() != '%';
  context.terminal = context.terminal || one_terminal;
  const absl::StatusOr<ExprId> body = ReadExpansion(context);
  if (!body.ok()) return body.status();
  if (one_terminal) {
    const ExprId lexeme = grammar_.Add({.kind = ExprKind::kLexeme, .at = header.at}, {*body});
    return attributes.Applied(lexeme, grammar_);
  }
  return attributes.Applied(*body, grammar_);
}

absl::StatusOr<ExprId> LarkReader::ReadExpansion(const ExpansionContext& context) {
  const auto read_nested = [this](std::int64_t depth) {
    return LarkReader(options_, depth, &reading_).Read();
  };
  return ExpansionReader(context, options_, read_nested, &reading_, &grammar_).Read();
}

ExprId LarkReader::Extended(ExprId body, const Header& header) {
  const SymbolId symbol = grammar_.Symbol(header.name);
  const std::uint32_t before = *grammar_.definition_of[symbol];
  // The definition before goes on under a name that no definition can have.
  const SymbolId hidden = grammar_.Symbol(absl::StrCat("%extend ", before));
  grammar_.definition_of[hidden] = before;
  const bool terminal = IsTerminalName(header.name);
  const ExprId old = grammar_.Add({.kind = ExprKind::kName,
                                   .use = terminal ? ExprUse::kCharacters : ExprUse::kRule,
                                   .a = hidden,
                                   .at = header.at});
  return grammar_.Add({.kind = ExprKind::kChoice, .at = header.at}, {old, body});
}

}  // namespace maskd
