// The file is the flags in another spelling: each plain field is set as the flag of its name would
// be, by the same code, so that a value has one meaning and one error. Tenants are the one thing
// that flags cannot say, and are read here.
//
// Invariant  an error names file, line and key; a file with one is refused as a whole.
// Threads    main's alone: at the start, and for a reload. A reload that meets an error leaves the
//            running server as it is, since the Config that was being filled is thrown away.
// Source     protobuf's text format (protobuf.dev/reference/protobuf/textformat-spec).
#include "service/process/config_file.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"

#include "memory/byte_size.h"
#include "service/callers/token_table.h"
#include "service/grammars/grammar_store.h"
#include "service/process/server_config.pb.h"

namespace maskd::service {
namespace {

using config::ServerConfig;
using google::protobuf::FieldDescriptor;
using google::protobuf::TextFormat;

constexpr std::size_t kMaxNameBytes = 64;

absl::Status Wrong(absl::string_view message) {
  return absl::InvalidArgumentError(std::string(message));
}

// Keeps the first error. Lines of protobuf count from 0.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (text_.empty()) text_ = absl::StrCat(line + 1, ":", column + 1, ": ", message);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// As somebody would have typed it for the flag, so that the flag's own setter reads it. The file
// has no other types: sizes and times are strings there, since they have units.
std::string ValueText(const ServerConfig& file, const FieldDescriptor& field) {
  const google::protobuf::Reflection& values = *file.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(values.GetInt64(file, &field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return values.GetBool(file, &field) ? "true" : "false";
    default:
      return values.GetString(file, &field);
  }
}

// Reads one parsed file. The locations outlive it.
class Reader {
 public:
  Reader(absl::string_view path, TextFormat::ParseInfoTree* places)
      : path_(path), places_(places) {}

  // Goes by the message's own descriptor, so a new flag needs a field in server_config.proto and no
  // code here.
  absl::Status Read(const ServerConfig& file, Config* config) {
    const google::protobuf::Reflection& values = *file.GetReflection();
    const google::protobuf::Descriptor& type = *ServerConfig::descriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) continue;
      const bool is_there =
          field.is_repeated() ? values.FieldSize(file, &field) > 0 : values.HasField(file, &field);
      if (!is_there) continue;
      if (absl::Status set = SetFlags(file, field, config); !set.ok()) return set;
    }
    for (int i = 0; i < file.tenant_size(); ++i) {
      absl::StatusOr<TenantRule> rule = ReadTenant(file.tenant(i), i);
      if (!rule.ok()) return rule.status();
      config->tenants.push_back(*std::move(rule));
    }
    return absl::OkStatus();
  }

 private:
  // Index -1 stands for a field that is not a list, as ParseInfoTree has it.
  [[nodiscard]] std::string Place(const FieldDescriptor& field, int index) const {
    const auto place = places_->GetLocation(&field, index);
    return absl::StrCat(path_, ":", place.line + 1, ": ", field.name());
  }

  // A list is one value of its flag, but tokenizers are given one by one.
  absl::Status SetFlags(const ServerConfig& file, const FieldDescriptor& field,
                        Config* config) const {
    if (!field.is_repeated())
      return SetFlag(field.name(), ValueText(file, field), Place(field, -1), config);
    const google::protobuf::Reflection& values = *file.GetReflection();
    std::vector<std::string> texts;
    for (int i = 0; i < values.FieldSize(file, &field); ++i) {
      texts.push_back(values.GetRepeatedString(file, &field, i));
      if (field.name() != "tokenizer") continue;
      absl::Status set = SetFlag(field.name(), texts.back(), Place(field, i), config);
      if (!set.ok()) return set;
    }
    if (field.name() == "tokenizer") return absl::OkStatus();
    return SetFlag(field.name(), absl::StrJoin(texts, ","), Place(field, 0), config);
  }

  // An identity belongs to one tenant at most. Else which tenant a caller is would depend on the
  // order of the file, and so would the limits that it has.
  absl::StatusOr<TenantRule> ReadTenant(const config::Tenant& wire, int index) {
    const FieldDescriptor& field = *ServerConfig::descriptor()->FindFieldByName("tenant");
    const auto at = [&](const char* key, absl::string_view why) {
      return Wrong(absl::StrCat(Place(field, index), ".", key, ": ", why));
    };
    if (!IsName(wire.name())) return at("name", "is not 1 to 64 letters, digits, '-', '_' and '.'");
    if (!names_.insert(wire.name()).second) return at("name", "is another tenant's, too");
    if (wire.identity().empty()) return at("identity", "is missing: who is it");
    for (const std::string& identity : wire.identity()) {
      if (identity != "*" && identity != kPlayground && !IsIdentity(identity)) {
        return at("identity",
                  absl::StrCat("\"", identity,
                               "\" is not \"*\", \"playground\" or one of uid:, token:, "
                               "cert:, proxy: and address:, and a name"));
      }
      if (!identities_.insert(identity).second)
        return at("identity", absl::StrCat("\"", identity, "\" is another tenant's, too"));
    }
    TenantRule rule{wire.name(), {wire.identity().begin(), wire.identity().end()}, {}};
    TenantLimits& limits = rule.limits;
    limits.compiles_at_once = wire.compiles_at_once();
    limits.compiles_per_minute = wire.compiles_per_minute();
    limits.max_rows = wire.max_rows();
    limits.max_streams = wire.max_streams();
    for (const auto& [key, number] :
         {std::pair("compiles_at_once", limits.compiles_at_once),
          std::pair("compiles_per_minute", limits.compiles_per_minute),
          std::pair("max_rows", limits.max_rows), std::pair("max_streams", limits.max_streams)}) {
      if (number < 0) return at(key, "is below 0");
    }
    if (!wire.cache_bytes().empty()) {
      const auto bytes = memory::ParseByteSize(wire.cache_bytes());
      if (!bytes.has_value()) return at("cache_bytes", "is not a number of bytes, such as 64MiB");
      limits.cache_bytes = *bytes;
    }
    // Absent means allowed: a tenant is only held to ids where the operator says so.
    limits.inline_grammars = !wire.has_inline_grammars() || wire.inline_grammars();
    for (const std::string& id : wire.grammar()) {
      if (!IsGrammarId(id)) return at("grammar", "is not 64 lower-case hexadecimal digits");
      limits.grammars.insert(id);
    }
    return rule;
  }

  static bool IsName(absl::string_view name) {
    return !name.empty() && name.size() <= kMaxNameBytes &&
           std::all_of(name.begin(), name.end(), [](char c) {
             return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' ||
                    c == '.';
           });
  }

  // The kinds are those that Admission gives to callers. Another one would match nobody, ever.
  const absl::string_view path_;
  TextFormat::ParseInfoTree* const places_;
  std::set<std::string> names_;
  std::set<std::string> identities_;
};

}  // namespace

absl::Status ReadConfigText(const std::string& text, absl::string_view path, Config* config) {
  FirstError error;
  TextFormat::ParseInfoTree places;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.WriteLocationsTo(&places);
  ServerConfig file;
  if (!parser.ParseFromString(text, &file)) return Wrong(absl::StrCat(path, ":", error.text()));
  return Reader(path, &places).Read(file, config);
}

absl::Status ReadConfigFileAt(const std::string& path, Config* config) {
  const absl::StatusOr<std::string> text = ReadSmallFile(path);
  if (!text.ok()) return Wrong(absl::StrCat("--config: ", text.status().message()));
  return ReadConfigText(*text, path, config);
}

}  // namespace maskd::service
