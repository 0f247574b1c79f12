// A reader of events that switches between three modes: the tree, the vocabulary and the merges.
// The last two are recognised by their place when their container opens, and their events then fill
// plain lists.
//
// Invariant  depth_ counts the containers that are open within the part; at 0 the tree goes on.
// Cost       linear in the text; a path is made for each container outside of the two lists.
// Bounds     Vocabulary::kMaxTokens pieces.
// Source     the tokenizer.json of the `tokenizers` library.
#include "grammar_core/tokenizer/formats/tokenizer_document.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/error.h"
#include "grammar_core/tokenizer/formats/json_tree.h"
#include "grammar_core/tokenizer/source_file.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

// Lets the tree grow but inside the two large values, whose events it takes for itself.
class DocumentReader : public JsonTreeReader {
 public:
  explicit DocumentReader(TokenizerDocument* document) : document_(*document) {}

  bool null() override { return within_ == Part::kTree ? JsonTreeReader::null() : NotAnId(); }
  bool boolean(bool value) override {
    return within_ == Part::kTree ? JsonTreeReader::boolean(value) : NotAnId();
  }
  bool number_integer(number_integer_t value) override {
    return within_ == Part::kTree ? JsonTreeReader::number_integer(value) : Score();
  }
  bool number_unsigned(number_unsigned_t value) override;
  bool number_float(number_float_t value, const string_t& text) override {
    return within_ == Part::kTree ? JsonTreeReader::number_float(value, text) : Score();
  }
  bool string(string_t& value) override;
  bool start_object(std::size_t elements) override;
  bool key(string_t& name) override;
  bool end_object() override { return Leave() || JsonTreeReader::end_object(); }
  bool start_array(std::size_t elements) override;
  bool end_array() override;

 private:
  enum class Part { kTree, kMerges, kVocabObject, kVocabList };

  [[nodiscard]] Part PartHere(bool is_list) const;
  // Goes in, where the value that begins now is one of the two or inside one.
  bool Enter(bool is_list);
  // Comes out of a container inside one of the two.
  bool Leave();
  // A number that is no id: a score where scores stand, else an error.
  bool Score() {
    return within_ == Part::kMerges || (within_ == Part::kVocabList && depth_ == 2) || NotAnId();
  }
  bool NotAnId();
  // Whether the value of the key just read is not the second of one of the two.
  bool IsFirst();
  bool AddPiece(std::string piece, std::int64_t id);
  bool AddToMerges(std::string text);

  TokenizerDocument& document_;
  Part within_ = Part::kTree;
  int depth_ = 0;       // containers open inside the part
  int text_count_ = 0;  // in the entry of a list
  bool has_vocab_ = false;
  std::string piece_;
};

DocumentReader::Part DocumentReader::PartHere(bool is_list) const {
  const std::string place = Here().str();
  if (place == "/model/merges") return Part::kMerges;
  if (place == "/model/vocab") return is_list ? Part::kVocabList : Part::kVocabObject;
  return Part::kTree;
}

bool DocumentReader::Enter(bool is_list) {
  if (within_ == Part::kTree) {
    within_ = PartHere(is_list);
    document_.has_merges |= within_ == Part::kMerges;
    has_vocab_ |= within_ == Part::kVocabObject || within_ == Part::kVocabList;
    depth_ = within_ == Part::kTree ? 0 : 1;
    return within_ != Part::kTree;
  }
  if (++depth_ == 2) text_count_ = 0;
  return true;
}

bool DocumentReader::Leave() {
  if (within_ == Part::kTree) return false;
  if (--depth_ == 0) within_ = Part::kTree;
  return true;
}

bool DocumentReader::start_object(std::size_t elements) {
  if (!Enter(false)) return JsonTreeReader::start_object(elements);
  return within_ == Part::kMerges || (within_ == Part::kVocabObject && depth_ == 1) || NotAnId();
}

bool DocumentReader::start_array(std::size_t elements) {
  if (!Enter(true)) return JsonTreeReader::start_array(elements);
  return within_ == Part::kMerges || (within_ == Part::kVocabList && depth_ <= 2) || NotAnId();
}

bool DocumentReader::end_array() {
  if (within_ == Part::kVocabList && depth_ == 2 && text_count_ == 0) return NotAnId();
  return Leave() || JsonTreeReader::end_array();
}

// The tree, which has neither, does not know that they were there.
bool DocumentReader::IsFirst() {
  const std::string place = Here().str();
  const bool is_second =
      (place == "/model/vocab" && has_vocab_) || (place == "/model/merges" && document_.has_merges);
  return !is_second || Fail(InvalidTokenizer(place, "appears twice"));
}

bool DocumentReader::key(string_t& name) {
  if (within_ == Part::kTree) {
    const bool may_be_second = name == "vocab" || name == "merges";
    return JsonTreeReader::key(name) && (!may_be_second || IsFirst());
  }
  piece_ = std::move(name);
  return true;
}

bool DocumentReader::string(string_t& value) {
  switch (within_) {
    case Part::kTree:
      return JsonTreeReader::string(value);
    case Part::kMerges:
      return AddToMerges(std::move(value));
    case Part::kVocabObject:
      return NotAnId();
    case Part::kVocabList:
      break;
  }
  if (depth_ != 2 || ++text_count_ != 1) return NotAnId();
  return AddPiece(std::move(value), static_cast<std::int64_t>(document_.pieces.size()));
}

bool DocumentReader::number_unsigned(number_unsigned_t value) {
  if (within_ == Part::kTree) return JsonTreeReader::number_unsigned(value);
  if (within_ != Part::kVocabObject) return Score();
  constexpr auto kMax = static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max());
  return value <= kMax ? AddPiece(std::move(piece_), static_cast<std::int64_t>(value)) : NotAnId();
}

bool DocumentReader::NotAnId() {
  if (within_ == Part::kMerges) return true;
  const FieldPath vocab = FieldPath().Child("model").Child("vocab");
  if (within_ == Part::kVocabObject) {
    return Fail(
        InvalidTokenizer(vocab.Child(Shortened(piece_)).str(), "the id is not a whole number"));
  }
  const bool is_in_list = depth_ > 1 && text_count_ > 0;  // its piece is there already
  const std::size_t index = document_.pieces.size() - (is_in_list ? 1 : 0);
  return Fail(InvalidTokenizer(vocab.Child(static_cast<std::int64_t>(index)).str(),
                               "not a [piece, score] pair"));
}

bool DocumentReader::AddPiece(std::string piece, std::int64_t id) {
  if (document_.pieces.size() >= Vocabulary::kMaxTokens) {
    return Fail(InvalidTokenizer("/model/vocab",
                                 absl::StrCat("more than ", Vocabulary::kMaxTokens, " pieces")));
  }
  document_.pieces.push_back({std::move(piece), id});
  return true;
}

bool DocumentReader::AddToMerges(std::string text) {
  if (depth_ == 1) {
    document_.merges.push_back(MergeRule::FromLine(std::move(text)));
    return true;
  }
  if (++text_count_ == 1) {
    document_.merges.push_back({std::move(text), 0});
    return true;
  }
  MergeRule& merge = document_.merges.back();
  merge.left_bytes = text_count_ == 2 ? merge.made.size() : 0;  // three are no pair
  merge.made += text;
  return true;
}

}  // namespace

absl::StatusOr<TokenizerDocument> ReadTokenizerDocument(absl::string_view content) {
  TokenizerDocument document;
  DocumentReader reader(&document);
  if (absl::Status read = reader.Read(content); !read.ok()) return read;
  document.tree = std::move(reader.tree());
  return document;
}

}  // namespace maskd
