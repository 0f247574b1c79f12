// The page's calls as JSON: each reads its request, asks the server as any client would, and writes
// what the page shows. Figures, places and reasons are made by the files beside this one.
//
// Invariant  what a browser sends is bounded (depth, values, bytes) before it is looked at, and no
//            call changes anything on the server but its cache of grammars.
// Cost       one or two calls of the server an answer, and one stream of a small pool.

#include "playground/answers.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <google/protobuf/util/json_util.h>

#include "client/cpp/base/errors.h"
#include "grammar_core/base/quoted.h"
#include "grammar_core/base/utf8.h"
#include "playground/assets.h"

namespace maskd::playground {
namespace {

using Json = nlohmann::json;

constexpr std::array kKinds = {"json_schema", "response_format", "json_object", "json",
                               "regex",       "choice",          "ebnf",        "gbnf",
                               "lark",        "structural_tag",  "chat"};

constexpr int kMostDepth = 16;
constexpr int kMostValues = 10'000;

bool IsUtf8(absl::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();)
    if (!DecodeUtf8(bytes, &at).has_value()) return false;
  return true;
}

// Bytes for people.
std::string Shown(absl::string_view bytes) {
  if (IsUtf8(bytes)) return std::string(bytes);
  const std::string quoted = Quoted(bytes);
  return quoted.substr(1, quoted.size() - 2);
}

Json TokenJson(const Vocabulary& vocabulary, client::TokenId id) {
  const v1::Token& token = vocabulary.tokens[static_cast<std::size_t>(id)];
  Json json = {{"id", id}, {"text", Shown(token.text())}};
  if (!IsUtf8(token.text())) json["bytes"] = true;
  if (token.special()) json["special"] = true;
  if (vocabulary.IsStop(id)) json["stop"] = true;
  return json;
}

Json SpanJson(const reasons::SourceSpan& span) {
  return {{"begin", span.begin}, {"end", span.end}, {"line", span.line}, {"column", span.column}};
}

Json FiguresJson(const MaskFigures& figures) {
  return {{"form", figures.form}, {"bytes", figures.bytes}, {"allowed", figures.allowed}};
}

Json DiagnosticsJson(const google::protobuf::RepeatedPtrField<v1::Diagnostic>& diagnostics,
                     absl::string_view source) {
  Json list = Json::array();
  for (const v1::Diagnostic& each : diagnostics) {
    Json json = {{"place", each.place()}, {"message", each.message()}};
    const auto span = reasons::FindPlace(source, each.place());
    if (span.has_value()) json["span"] = SpanJson(*span);
    list.push_back(std::move(json));
  }
  return list;
}

int HttpStatus(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kFailedPrecondition:
      return 400;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 502;
  }
}

HttpResponse JsonResponse(int status, const Json& json) {
  return {.status = status, .body = json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

HttpResponse ErrorResponse(const absl::Status& status, absl::string_view source) {
  const std::string place = client::ErrorPlace(status);
  Json error = {{"code", absl::StatusCodeToString(status.code())},
                {"reason", client::ErrorReason(status)},
                {"message", status.message()},
                {"place", place}};
  const auto span = reasons::FindPlace(source, place);
  if (span.has_value()) error["span"] = SpanJson(*span);
  return JsonResponse(HttpStatus(status.code()), {{"error", std::move(error)}});
}

// What is nested deeper than any request is left out: printing nested JSON takes stack. So are
// values beyond those of any request: each takes many times the bytes that it has in the text.
Json ParseBody(const std::string& body) {
  int values = 0;
  const auto keep = [&](int depth, Json::parse_event_t, const Json&) {
    return depth <= kMostDepth && ++values <= kMostValues;
  };
  return Json::parse(body, keep, /*allow_exceptions=*/false);
}

std::string Text(const Json& request, const char* name) {
  const auto found = request.find(name);
  return found != request.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<std::int64_t> Number(const Json& request, const char* name) {
  const auto found = request.find(name);
  if (found == request.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

PositionQuestion QuestionOf(const Json& request) {
  PositionQuestion question;
  question.grammar_id = Text(request, "grammar_id");
  question.tokenizer = Text(request, "tokenizer");
  question.text = Text(request, "text");
  question.at = Number(request, "at");
  question.limit = Number(request, "limit").value_or(question.limit);
  question.find = Text(request, "find");
  question.known = Number(request, "known");
  return question;
}

absl::StatusOr<v1::Grammar> GrammarOf(const Json& request) {
  v1::Grammar grammar;
  const auto found = request.find("grammar");
  if (found == request.end()) return absl::InvalidArgumentError("grammar: is absent");
  const auto parsed = google::protobuf::util::JsonStringToMessage(found->dump(), &grammar);
  if (parsed.ok()) return grammar;
  return absl::InvalidArgumentError(absl::StrCat("grammar: ", parsed.ToString()));
}

Json TokensJson(const Vocabulary& vocabulary, const std::vector<NamedToken>& named) {
  Json list = Json::array();
  for (const NamedToken& each : named) {
    list.push_back(TokenJson(vocabulary, each.id));
    if (!each.is_allowed) list.back()["refused"] = true;
  }
  return list;
}

// The places of the window: each with the bytes before it, its token, and its mask where it is not
// known.
Json WindowJson(const Vocabulary& vocabulary, const PositionAnswer& answer) {
  Json list = Json::array();
  std::size_t offset = 0;
  for (std::int64_t i = 0; i <= answer.last; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (i >= answer.first) {
      const auto figures = static_cast<std::size_t>(i - answer.first_figures);
      const bool is_there = i >= answer.first_figures && figures < answer.figures.size();
      Json place = is_there ? FiguresJson(answer.figures[figures]) : Json::object();
      place["offset"] = offset;
      if (at < answer.tokens.size()) place["token"] = TokenJson(vocabulary, answer.tokens[at]);
      list.push_back(std::move(place));
    }
    if (at < answer.tokens.size())
      offset += vocabulary.tokens[static_cast<std::size_t>(answer.tokens[at])].text().size();
  }
  return list;
}

}  // namespace

Answers::Answers(PlaygroundSetup setup)
    : setup_(std::move(setup)),
      vocabularies_(*setup_.client),
      streams_(*setup_.client, setup_.most_idle_streams) {}

HttpResponse Answers::Answer(const HttpRequest& request) {
  if (request.method == "GET") {
    const std::string name = request.path == "/" ? "index.html" : request.path.substr(1);
    const auto asset = std::ranges::find(Assets(), name, &Asset::name);
    if (asset != Assets().end()) {
      const absl::string_view type = absl::EndsWith(name, ".html")  ? "text/html"
                                     : absl::EndsWith(name, ".css") ? "text/css"
                                                                    : "text/javascript";
      return {.type = absl::StrCat(type, "; charset=utf-8"), .body = std::string(asset->text)};
    }
    if (request.path == "/api/metrics") return Metrics();
  }
  return Call(request);
}

HttpResponse Answers::Call(const HttpRequest& request) {
  struct Row {
    absl::string_view path;
    absl::StatusOr<Json> (Answers::*call)(const Json&);
  };
  static constexpr std::array kCalls = {
      Row{"/api/compile", &Answers::Compile},
      Row{"/api/place", &Answers::Place},
      Row{"/api/why", &Answers::Why},
      Row{"/api/ending", &Answers::Ending},
  };
  absl::StatusOr<Json> answer = absl::NotFoundError(absl::StrCat("there is no ", request.path));
  Json body = Json::object();
  if (request.method == "GET") {
    if (request.path == "/api/about") answer = About();
  } else {
    body = ParseBody(request.body);
    if (!body.is_object())
      return ErrorResponse(absl::InvalidArgumentError("the body is no JSON object"), "");
    const auto row = std::ranges::find(kCalls, request.path, &Row::path);
    if (row != kCalls.end()) answer = (this->*row->call)(body);
  }
  if (answer.ok()) return JsonResponse(200, *answer);
  const auto grammar = body.find("grammar");
  const bool has_source = grammar != body.end() && grammar->is_object();
  return ErrorResponse(answer.status(), has_source ? Text(*grammar, "source") : "");
}

absl::StatusOr<Json> Answers::About() {
  const auto tokenizers = setup_.client->ListTokenizers();
  if (!tokenizers.ok()) return tokenizers.status();
  Json list = Json::array();
  for (const v1::Tokenizer& each : *tokenizers)
    list.push_back({{"name", each.name()}, {"vocab_size", each.vocab_size()}});
  return Json{{"version", setup_.version},
              {"server", setup_.server},
              {"has_metrics", setup_.metrics != nullptr},
              {"kinds", kKinds},
              {"tokenizers", std::move(list)}};
}

absl::StatusOr<Json> Answers::Compile(const Json& request) {
  auto grammar = GrammarOf(request);
  if (!grammar.ok()) return grammar.status();
  v1::ExplainRequest asked;
  asked.set_tokenizer(Text(request, "tokenizer"));
  *asked.mutable_grammar() = *grammar;
  const auto explained = setup_.client->Explain(asked);
  if (!explained.ok()) return explained.status();
  sources_.Keep(explained->grammar_id(), grammar->kind(), grammar->source());
  const v1::GrammarCosts& costs = explained->costs();
  return Json{{"grammar_id", explained->grammar_id()},
              {"forced_prefix", Shown(explained->forced_prefix())},
              {"warnings", DiagnosticsJson(explained->warnings(), grammar->source())},
              {"bounds", DiagnosticsJson(explained->bounds(), grammar->source())},
              {"rules_text", explained->rules_text().substr(0, 64 << 10)},
              {"costs",
               {{"rules", costs.rules()},
                {"terms", costs.terms()},
                {"held_bytes", costs.held_bytes()},
                {"compile_us", costs.compile_us()},
                {"first_mask_us", costs.first_mask_us()}}}};
}

Json Answers::ReasonOf(const PositionQuestion& question, absl::string_view taken) {
  const auto source = sources_.Find(question.grammar_id);
  const auto is_viable = [&](absl::string_view text) {
    v1::CheckRequest request;
    request.set_tokenizer(question.tokenizer);
    request.set_grammar_id(question.grammar_id);
    request.set_raw_text(std::string(text));
    const auto response = setup_.client->Check(request);
    return !response.ok() || response->accepted();
  };
  const reasons::Reason reason =
      source == nullptr ? reasons::Reason() : source->ReasonBehind(taken, is_viable);
  Json rules = Json::array();
  for (const reasons::PlacedRule& rule : reason.rules)
    rules.push_back({{"place", rule.place}, {"says", rule.says}, {"span", SpanJson(rule.span)}});
  return {{"where", reason.where}, {"rules", std::move(rules)}, {"left_out", reason.left_out}};
}

absl::StatusOr<Json> Answers::Place(const Json& request) {
  const PositionQuestion question = QuestionOf(request);
  const auto vocabulary = vocabularies_.Get(question.tokenizer);
  if (!vocabulary.ok()) return vocabulary.status();
  const auto answer = DescribePlace(streams_, **vocabulary, question);
  if (!answer.ok()) return answer.status();
  std::size_t taken = answer->byte_offset;
  if (answer->at < std::ssize(answer->tokens)) {
    taken = 0;
    for (const client::TokenId id : std::span(answer->tokens).first(answer->at))
      taken += (*vocabulary)->tokens[static_cast<std::size_t>(id)].text().size();
  }
  Json json = {{"accepted", answer->accepted},
               {"may_end", answer->accepted && answer->may_end},
               {"byte_offset", answer->byte_offset},
               {"count", answer->tokens.size()},
               {"first", answer->first},
               {"window", WindowJson(**vocabulary, *answer)},
               {"at", answer->at},
               {"at_may_end", answer->at_may_end},
               {"here", FiguresJson(answer->here)},
               {"vocab_size", (*vocabulary)->tokens.size()},
               {"forced", Shown(answer->forced)},
               {"likely", TokensJson(**vocabulary, answer->likely)},
               {"found", TokensJson(**vocabulary, answer->found)},
               {"found_count", answer->found_count}};
  json["reason"] = ReasonOf(question, absl::string_view(question.text).substr(0, taken));
  return json;
}

// A token is refused at its first byte that no text of the grammar has there.
absl::StatusOr<Json> Answers::Why(const Json& request) {
  const PositionQuestion question = QuestionOf(request);
  const auto vocabulary = vocabularies_.Get(question.tokenizer);
  if (!vocabulary.ok()) return vocabulary.status();
  const std::int64_t id = Number(request, "token").value_or(-1);
  if (id < 0 || id >= std::ssize((*vocabulary)->tokens))
    return absl::OutOfRangeError(absl::StrCat("token: ", id, " is no token"));
  const v1::Token& token = (*vocabulary)->tokens[static_cast<std::size_t>(id)];
  Json json = {{"token", TokenJson(**vocabulary, static_cast<client::TokenId>(id))}};
  v1::CheckRequest check;
  check.set_tokenizer(question.tokenizer);
  check.set_grammar_id(question.grammar_id);
  check.set_raw_text(absl::StrCat(question.text, token.special() ? "" : token.text()));
  const auto checked = setup_.client->Check(check);
  if (!checked.ok()) return checked.status();
  std::size_t taken = question.text.size();
  if (token.special()) {
    json["message"] = (*vocabulary)->IsStop(static_cast<client::TokenId>(id))
                          ? "the text may not end here"
                          : "the grammar names no such special token here";
  } else if (!checked->accepted()) {
    taken = static_cast<std::size_t>(checked->stop().byte_offset());
    const std::size_t in_token = taken - std::min(taken, question.text.size());
    json["in_token"] = in_token;
    json["message"] =
        absl::StrCat("the grammar takes ", in_token, " of its ", token.text().size(), " bytes; ",
                     Quoted(checked->stop().refused()), " may not follow");
  } else {
    json["message"] = "its text is allowed; the grammar bounds tokens, or names another token";
  }
  const std::string all = check.raw_text();
  json["reason"] = ReasonOf(question, absl::string_view(all).substr(0, taken));
  return json;
}

absl::StatusOr<Json> Answers::Ending(const Json& request) {
  const PositionQuestion question = QuestionOf(request);
  const auto vocabulary = vocabularies_.Get(question.tokenizer);
  if (!vocabulary.ok()) return vocabulary.status();
  const auto ending = ShortestEnding(streams_, **vocabulary, question);
  if (!ending.ok()) return ending.status();
  std::string text;
  Json tokens = Json::array();
  for (const client::TokenId id : *ending) {
    text += (*vocabulary)->tokens[static_cast<std::size_t>(id)].text();
    tokens.push_back(TokenJson(**vocabulary, id));
  }
  return Json{{"text", text}, {"tokens", std::move(tokens)}};
}

HttpResponse Answers::Metrics() const {
  if (setup_.metrics == nullptr)
    return ErrorResponse(absl::NotFoundError("no metrics address was given; see --metrics"), "");
  auto page = setup_.metrics();
  if (!page.ok()) return ErrorResponse(page.status(), "");
  return {.type = "text/plain; charset=utf-8", .body = *std::move(page)};
}

}  // namespace maskd::playground
