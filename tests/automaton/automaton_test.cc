// The automaton on IRs made by hand: languages by table, and the routes of a mask against each
// other.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "grammar_core/base/char_set.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/mask/token_index.h"
#include "grammar_core/mask_routes/mask_maker.h"
#include "grammar_core/rows/masked_automaton.h"
#include "grammar_core/terms/term_printer.h"
#include "grammar_core/tokenizer/loader.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

// Every string of one or two letters of an alphabet that has the awkward cases, and of three with
// no or nothing but bytes beyond ASCII, as a vocabulary. So few are ill-formed that a trie of
// candidates (see token_index.h) is never of all tokens.
std::shared_ptr<const Vocabulary> SmallVocabulary() {
  const std::vector<std::string> letters = {
      "a", "b", "c", "{", "}", "[",  "]",    ",",    ":",    "\"",   "\\",   "u",    "0",   "1",
      "2", "3", "6", "d", " ", "\n", "\xC3", "\xA9", "\xE2", "\x82", "\xAC", "\xF0", "\xFF"};
  std::vector<Vocabulary::Token> tokens;
  for (const std::string& x : letters) tokens.push_back({x});
  for (const std::string& x : letters)
    for (const std::string& y : letters) tokens.push_back({x + y});
  const auto is_ascii = [](const std::string& letter) { return letter[0] >= 0; };
  for (const std::string& x : letters) {
    for (const std::string& y : letters) {
      for (const std::string& z : letters) {
        const bool is_mixed = is_ascii(x) != is_ascii(y) || is_ascii(y) != is_ascii(z);
        if (!is_mixed) tokens.push_back({x + y + z});
      }
    }
  }
  for (const char* word :
       {"abcabcabcabcabc", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "\"a\":", "\"}]}", "\",\"",
        "\\u00e9", "\\u0061b", "abc", "\u2028", "a\u00a0b", "\u3000", "a\u00a0c", "\u00e9\u3000\"",
        "b\u2029\xC3", "\u00e9\u00e9c", "a\xE2\x82", "\xAC\"b"}) {
    tokens.push_back({word});
  }
  tokens.push_back({"<end>", true});
  const auto end = static_cast<TokenId>(tokens.size()) - 1;
  return *Vocabulary::Create("small", std::move(tokens), {end});
}

class Fixture {
 public:
  explicit Fixture(GrammarIr ir)
      : ir_(std::move(ir)),
        index_(SmallVocabulary()),
        masks_(&index_, 1 << 26),
        budget_(Budget::Unlimited()) {
    automaton_ = *MaskedAutomaton::Create(ir_, &masks_, Limits(), budget_);
    shown_.emplace(&automaton_->store());
  }

  MaskedAutomaton& automaton() { return *automaton_; }
  MaskStore& masks() { return masks_; }
  const TokenIndex& index() { return index_; }
  Budget& budget() { return budget_; }

  bool Accepts(absl::string_view text) {
    Work work(budget_);
    std::size_t taken = 0;
    const TermId state = automaton_->StepText(automaton_->start(), text, &taken, work);
    return work.ok() && taken == text.size() && automaton_->MayEnd(state);
  }

 private:
  GrammarIr ir_;
  TokenIndex index_;
  MaskStore masks_;
  Budget budget_;
  std::unique_ptr<MaskedAutomaton> automaton_;
  std::optional<ShownTerms> shown_;
};

// Ends `builder`. It is a reference, not a value, so that `body` may be made in the same
// expression.
GrammarIr BuildOrDie(IrBuilder& builder, NodeId body) {
  const RuleId start = builder.DeclareRule("start", "");
  builder.DefineRule(start, body);
  return *std::move(builder).Build(start);
}

NodeId Quoted(IrBuilder* b, NodeId characters) {
  return b->Concat({b->Bytes("\""), b->Encode(Spelling::kJsonString, characters), b->Bytes("\"")});
}

// An object with members "a" (required), "ab" and others, whose values are short strings.
NodeId ObjectNode(IrBuilder* b, bool any_order, bool others) {
  const NodeId value = Quoted(b, b->Repeat(b->AnyChar(), 0, 3));
  ObjectSpec spec;
  spec.members = {{"ab", value, false}, {"a", value, true}, {"c", b->Nothing(), false}};
  if (others) spec.others.push_back({b->Repeat(b->AnyChar(), 0, kUnbounded), value});
  spec.space = b->Repeat(b->AnyByteOf(" \n"), 0, 2);
  spec.any_order = any_order;
  return b->Object(std::move(spec));
}

struct TextCase {
  const char* name;
  const char* text;
  bool declared;         // accepted in declared order, no others
  bool declared_others;  // with others
  bool any;              // any order with others
};

class ObjectTest : public testing::TestWithParam<TextCase> {};

TEST_P(ObjectTest, AcceptsItsTexts) {
  const TextCase& c = GetParam();
  for (const auto& [any_order, others, expected] :
       {std::tuple(false, false, c.declared), std::tuple(false, true, c.declared_others),
        std::tuple(true, true, c.any)}) {
    IrBuilder b{Limits()};
    const NodeId object = ObjectNode(&b, any_order, others);
    Fixture fixture(BuildOrDie(b, object));
    EXPECT_EQ(fixture.Accepts(c.text), expected) << any_order << others << " " << c.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, ObjectTest,
                         testing::ValuesIn(std::vector<TextCase>{
                             {"Required", R"({"a":"1"})", true, true, true},
                             {"Empty", "{}", false, false, false},
                             {"InOrder", R"({"ab":"","a":""})", true, true, true},
                             {"OutOfOrder", R"({"a":"","ab":""})", false, false, true},
                             {"Twice", R"({"a":"","a":""})", false, false, false},
                             {"TwiceEscaped", R"({"a":"","\u0061":""})", false, false, false},
                             {"EscapedName", R"({"\u0061\u0062":"","a":""})", true, true, true},
                             {"Other", R"({"a":"","x":""})", false, true, true},
                             {"OtherFirst", R"({"x":"","a":""})", false, false, true},
                             {"OtherHasPrefix", R"({"a":"","abc":""})", false, true, true},
                             {"OtherIsEmptyName", R"({"a":"","":""})", false, true, true},
                             {"ForbiddenName", R"({"a":"","c":""})", false, false, false},
                             {"ForbiddenEscaped", R"({"a":"","\u0063":""})", false, false, false},
                             {"Spaces", "{ \n\"a\" :  \"\" \n}", true, true, true},
                             {"TooManySpaces", "{   \"a\":\"\"}", false, false, false},
                             {"TrailingComma", R"({"a":"",})", false, false, false},
                             {"LengthInCharacters", R"({"a":"é\ud83d\ude00€"})", true, true, true},
                             {"TooLong", R"({"a":"é\ud83d\ude00€1"})", false, false, false},
                             {"LoneSurrogate", R"({"a":"\ud83d"})", false, false, false},
                         }),
                         [](const auto& test) { return test.param.name; });

// One of `count` objects, each of names of its own and others, whose values tell which it is.
std::vector<NodeId> Objects(IrBuilder* b, int count) {
  std::vector<NodeId> ways;
  for (int i = 0; i < count; ++i) {
    const auto letter = [](int of) { return std::string(1, "abcdu1"[of % 6]); };
    ObjectSpec spec;
    const NodeId value = b->Bytes(std::to_string(i));
    spec.members = {{letter(i) + letter(i / 6) + letter(i / 36), value, false},
                    {letter(i + 1) + letter(i / 6) + "c", value, false}};
    spec.others.push_back({b->Repeat(b->AnyChar(), 0, kUnbounded), value});
    spec.space = b->Repeat(b->AnyByteOf(" \n"), 0, 2);
    spec.any_order = true;
    ways.push_back(b->Object(std::move(spec)));
  }
  return ways;
}

NodeId ChoiceOfObjects(IrBuilder* b, int count) { return b->Alt(Objects(b, count)); }

// The same, each before a tail of its own; every third has no other names.
NodeId ObjectsBeforeTails(IrBuilder* b, int count) {
  std::vector<NodeId> ways = Objects(b, count);
  for (int i = 0; i < count; ++i) {
    if (i % 3 == 2) {
      ObjectSpec spec;
      spec.members = {{"abc", b->Bytes("0"), false}, {"ad", b->Bytes(std::to_string(i)), true}};
      spec.space = b->Empty();
      spec.any_order = true;
      ways[i] = b->Object(std::move(spec));
    }
    ways[i] = b->Concat({ways[i], b->Bytes("," + std::to_string(i))});
  }
  return b->Alt(std::move(ways));
}

struct NamedGrammar {
  const char* name;
  GrammarIr (*make)(IrBuilder& b);
};

void PrintTo(const NamedGrammar& grammar, std::ostream* out) { *out << grammar.name; }

// Grammars whose states take every route.
const NamedGrammar kGrammars[] = {
    {"AnyString",
     [](IrBuilder& b) {
       const NodeId any = b.AnyChar();
       return BuildOrDie(b, Quoted(&b, b.Repeat(any, 0, kUnbounded)));
     }},
    {"ShortString",
     [](IrBuilder& b) {
       const NodeId any = b.AnyChar();
       return BuildOrDie(b, Quoted(&b, b.Repeat(any, 2, 5)));
     }},
    {"ButSomeTexts",
     [](IrBuilder& b) {
       const NodeId any = b.AnyChar();
       return BuildOrDie(b, Quoted(&b, b.And({b.Repeat(any, 0, 12),
                                              b.Not(b.TextSet({"a", "ab", "abc", "0", "é"}))})));
     }},
    // contains "abc", at most 9 characters
    {"ContainsAbc",
     [](IrBuilder& b) {
       const NodeId any = b.AnyChar();
       const NodeId all = b.Repeat(any, 0, kUnbounded);
       return BuildOrDie(
           b, Quoted(&b, b.And({b.Concat({all, b.Text("abc"), all}), b.Repeat(any, 0, 9)})));
     }},
    // plain UTF-8, a tail that begins like the body
    {"TailBeginsLikeTheBody",
     [](IrBuilder& b) {
       const NodeId letters = b.Chars(CharSet({{'a', 'c'}}));
       return BuildOrDie(b, b.Concat({b.Encode(Spelling::kUtf8, b.Repeat(letters, 1, 40)),
                                      b.Bytes("cab"), b.Repeat(b.Bytes(" ab"), 0, 3)}));
     }},
    // two ways that differ late
    {"WaysThatDifferLate",
     [](IrBuilder& b) {
       const NodeId any = b.AnyChar();
       const NodeId letters = b.Chars(CharSet({{'a', 'c'}}));
       return BuildOrDie(
           b,
           b.Alt({b.Concat({b.Encode(Spelling::kUtf8, b.Repeat(any, 0, kUnbounded)), b.Bytes("}")}),
                  b.Concat({b.Encode(Spelling::kUtf8, b.Repeat(letters, 3, 8)), b.Bytes("]")})}));
     }},
    {"ObjectInAnyOrder", [](IrBuilder& b) { return BuildOrDie(b, ObjectNode(&b, true, true)); }},
    // recursion: nested lists of strings
    {"NestedLists",
     [](IrBuilder& b) {
       const NodeId any = b.AnyChar();
       const RuleId list = b.DeclareRule("list", "");
       const NodeId item = b.Alt({b.Call(list), Quoted(&b, b.Repeat(any, 0, kUnbounded))});
       const NodeId comma = b.Concat({b.Bytes(","), item});
       b.DefineRule(list,
                    b.Concat({b.Bytes("["), b.Optional(b.Concat({item, b.Repeat(comma, 0, 4)})),
                              b.Bytes("]")}));
       return *std::move(b).Build(list);
     }},
    // letters, but never two of a kind three times
    {"NeverThreeOfAKind",
     [](IrBuilder& b) {
       const NodeId any = b.AnyChar();
       const NodeId letters = b.Chars(CharSet({{'a', 'c'}}));
       return BuildOrDie(
           b, b.Encode(Spelling::kUtf8,
                       b.And({b.Repeat(letters, 0, 20),
                              b.Not(b.Concat({b.Repeat(any, 0, kUnbounded), b.Text("aaa"),
                                              b.Repeat(any, 0, kUnbounded)}))})));
     }},
    // numbers between white space
    {"NumbersBetweenSpaces",
     [](IrBuilder& b) {
       const NodeId digit = b.AnyByteOf("0123456789");
       const NodeId space = b.Repeat(b.AnyByteOf(" \n"), 0, 3);
       const NodeId fraction = b.Concat({b.Bytes("."), b.Repeat(digit, 1, kUnbounded)});
       const NodeId number = b.Concat({b.Repeat(digit, 0, 4), b.Optional(fraction), space});
       return BuildOrDie(
           b, b.Concat({b.Bytes("["), b.Repeat(b.Concat({number, b.Bytes(",")}), 0, 9), number,
                        b.Bytes("]")}));
     }},
    // runs of a length in between, before a tail that begins alike
    {"RunsBeforeATail",
     [](IrBuilder& b) {
       return BuildOrDie(b, b.Concat({b.Repeat(b.AnyByteOf("ab"), 2, 5), b.Bytes("ab"),
                                      b.Repeat(b.AnyByteOf(" 0"), 3, kUnbounded)}));
     }},
    // a pattern with a bound that no token comes near
    {"FarBound",
     [](IrBuilder& b) {
       const NodeId any = b.AnyChar();
       const NodeId all = b.Repeat(any, 0, kUnbounded);
       return BuildOrDie(
           b, Quoted(&b, b.And({b.Concat({all, b.Text("abc"), all}), b.Repeat(any, 0, 90)})));
     }},
    // the same with one that it does, after some letters
    {"NearBound",
     [](IrBuilder& b) {
       const NodeId any = b.AnyChar();
       const NodeId letters = b.Chars(CharSet({{'a', 'c'}}));
       const NodeId words = b.Repeat(b.Concat({letters, letters, b.Text(" ")}), 0, kUnbounded);
       return BuildOrDie(b, Quoted(&b, b.And({words, b.Repeat(any, 0, 52)})));
     }},
    // names that need escapes, have a common beginning or are not ASCII
    {"NamesWithEscapes",
     [](IrBuilder& b) {
       const NodeId any = b.AnyChar();
       ObjectSpec spec;
       const NodeId value = b.Bytes("1");
       spec.members = {{"a", value, false},   {"a\"b", value, false}, {"abc", value, false},
                       {"\\u", value, false}, {"\n", value, false},   {"c", b.Nothing(), false}};
       spec.members.push_back({"", value, false});
       spec.others.push_back({b.Repeat(any, 0, kUnbounded), b.Bytes("0")});
       spec.space = b.Repeat(b.AnyByteOf(" \n"), 0, 2);
       spec.any_order = true;
       return BuildOrDie(b, b.Object(std::move(spec)));
     }},
    // words by number: far from the bound, near it, and bounded in length as well
    {"WordsByNumber",
     [](IrBuilder& b) {
       const NodeId any = b.AnyChar();
       const NodeId dense = b.Repeat(b.Chars(CharSet::One(' ').Complement()), 1, kUnbounded);
       const NodeId words = b.Concat({b.Repeat(b.Concat({dense, b.Text(" ")}), 0, 9), dense});
       const NodeId both = b.And({words, b.Repeat(any, 0, 30)});
       return BuildOrDie(b, b.Concat({b.Bytes("["), Quoted(&b, words), b.Bytes(","),
                                      Quoted(&b, both), b.Bytes("]")}));
     }},
    // the same with a length that some tokens come near
    {"WordsByLength",
     [](IrBuilder& b) {
       const NodeId any = b.AnyChar();
       const NodeId letters = b.Chars(CharSet({{'a', 'c'}}));
       const NodeId word = b.Concat({b.Repeat(any, 1, 2), b.Text(" ")});
       const NodeId words = b.Concat({b.Repeat(word, 0, kUnbounded), b.Optional(letters)});
       return BuildOrDie(b, Quoted(&b, b.And({words, b.Repeat(any, 0, 24)})));
     }},
    // more objects than are walked apart, beside as many other values, before a tail
    {"ManyObjects",
     [](IrBuilder& b) {
       std::vector<NodeId> ways = {ChoiceOfObjects(&b, 14)};
       for (const char* digits :
            {"1", "12", "13", "2", "21", "23", "3", "31", "32", "0", "01", "02", "03"}) {
         ways.push_back(b.Concat({b.Bytes(digits), b.Bytes(digits), b.Bytes("a")}));
       }
       return BuildOrDie(b, b.Concat({b.Alt(std::move(ways)), b.Bytes("]")}));
     }},
    // objects, each before a tail of its own
    {"ObjectsBeforeTails", [](IrBuilder& b) { return BuildOrDie(b, ObjectsBeforeTails(&b, 14)); }},
    // an object without declared names
    {"NoDeclaredNames",
     [](IrBuilder& b) {
       const NodeId letters = b.Chars(CharSet({{'a', 'c'}}));
       ObjectSpec spec;
       spec.others = {{b.Repeat(letters, 1, kUnbounded), b.Bytes("1")},
                      {b.Repeat(b.Text("ab"), 0, 2), b.Bytes("2")}};
       spec.space = b.Repeat(b.AnyByteOf(" \n"), 0, 2);
       spec.any_order = true;
       return BuildOrDie(b, b.Object(std::move(spec)));
     }},
    // words within words, each bounded, as is the whole; one may not be in it
    {"WordsWithinWords",
     [](IrBuilder& b) {
       const NodeId any = b.AnyChar();
       const NodeId letters = b.Chars(CharSet({{'a', 'c'}}));
       const NodeId all = b.Repeat(any, 0, kUnbounded);
       const NodeId word = b.Concat({b.Repeat(any, 1, 40), b.Text("c")});
       const NodeId words = b.Concat({b.Repeat(word, 1, 20), b.Repeat(letters, 1, kUnbounded)});
       return BuildOrDie(b, Quoted(&b, b.And({b.Not(b.Concat({all, b.Text("}]"), all})),
                                              b.Repeat(any, 1, 100), words})));
     }},
    // what `.` takes, and behind an a what \S takes, but not everywhere
    {"DotsAndDense",
     [](IrBuilder& b) {
       const CharSet ends({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}});
       const NodeId dots = b.Repeat(b.Chars(ends.Complement()), 0, kUnbounded);
       const CharSet spaces = SpacesBeyondAscii().Union(CharSet({{'\t', '\r'}, {' ', ' '}}));
       const NodeId dense = b.Repeat(b.Chars(spaces.Complement()), 0, 90);
       const NodeId but_twice = b.Not(b.Concat({dots, b.Text("bb"), dots}));
       return BuildOrDie(b,
                         b.Alt({Quoted(&b, b.And({dots, but_twice})),
                                b.Concat({b.Bytes("a"), Quoted(&b, b.And({dense, but_twice}))})}));
     }},
};

std::ptrdiff_t RowOf(absl::string_view name) {
  return std::ranges::find(kGrammars, name, &NamedGrammar::name) - std::begin(kGrammars);
}

GrammarIr GrammarNamed(absl::string_view name) {
  IrBuilder b{Limits()};
  return kGrammars[RowOf(name)].make(b);
}

class RoutesTest : public testing::TestWithParam<NamedGrammar> {};

// Along random walks: walk, closure and the stored mask agree with taking each token by itself.
TEST_P(RoutesTest, AgreeWithTakingEachToken) {
  Fixture fixture(GrammarNamed(GetParam().name));
  MaskedAutomaton& automaton = fixture.automaton();
  const Vocabulary& vocabulary = fixture.index().vocabulary();
  std::mt19937 random(20261121 + static_cast<unsigned>(RowOf(GetParam().name)));
  for (int walk = 0; walk < 12; ++walk) {
    TermId state = automaton.start();
    for (int step = 0; step < 14; ++step) {
      Work work(fixture.budget());
      TokenMask expected(vocabulary.size());
      std::vector<std::pair<TokenId, TermId>> next;
      for (TokenId id = 0; id < vocabulary.size(); ++id) {
        if (vocabulary.IsSpecial(id)) continue;
        std::size_t taken = 0;
        const TermId to = automaton.StepText(state, vocabulary.TokenBytes(id), &taken, work);
        if (taken < vocabulary.TokenBytes(id).size()) continue;
        expected.Allow(id);
        next.emplace_back(id, to);
      }
      MaskMaker maker(&automaton, &automaton, &fixture.masks(), &work);
      ASSERT_EQ(*maker.Make(state), expected) << "route " << NameOf(maker.route());
      for (const MaskRouteInfo& route : MaskRouteTable()) {
        const MaskRef mask =
            MaskMaker(&automaton, &automaton, &fixture.masks(), &work).Make(state, route.route);
        if (mask == nullptr) continue;  // it does not fit
        ASSERT_EQ(*mask, expected)
            << "route " << route.name << " of " << PrintTerm(automaton.store(), state);
      }
      if (automaton.MayEnd(state))
        for (const TokenId id : vocabulary.stop_ids()) expected.Allow(id);
      ASSERT_EQ(**automaton.Mask(state, work), expected);
      ASSERT_TRUE(work.ok());
      ASSERT_FALSE(expected.empty()) << "a dead end";
      if (next.empty()) break;
      state = next[random() % next.size()].second;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Grammars, RoutesTest, testing::ValuesIn(kGrammars),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(AutomatonTest, MasksAreSharedByGrammarsThatBeginAlike) {
  // The same member value behind different names: the mask inside the string is one object.
  const auto grammar = [](const char* head) {
    IrBuilder b{Limits()};
    return BuildOrDie(b, b.Concat({b.Bytes(head), Quoted(&b, b.Repeat(b.AnyChar(), 0, kUnbounded)),
                                   b.Bytes("]"), b.Bytes(head)}));
  };
  const TokenIndex index(SmallVocabulary());
  MaskStore masks(&index, 1 << 26);
  Budget budget = Budget::Unlimited();
  std::vector<const TokenMask*> inside;
  const GrammarIr irs[] = {grammar("a"), grammar("abc")};
  for (const GrammarIr& ir : irs) {
    const auto automaton = *MaskedAutomaton::Create(ir, &masks, Limits(), budget);
    Work work(budget);
    std::size_t taken = 0;
    const TermId state =
        automaton->StepText(automaton->start(), ir.byte_strings[0].substr(0), &taken, work);
    inside.push_back((*automaton->Mask(state, work)).get());
  }
  EXPECT_EQ(inside[0], inside[1]);
}

TEST(AutomatonTest, BoundsThatDecideWhatIsLeftAreNotSharedAsOne) {
  // 80 b's are possible under one bound and not under the other; no token reaches either.
  const TokenIndex index(SmallVocabulary());
  MaskStore masks(&index, 1 << 26);
  Budget budget = Budget::Unlimited();
  for (const std::uint32_t most : {90U, 70U}) {
    IrBuilder b{Limits()};
    const NodeId either = b.Alt({b.Repeat(b.Text("a"), 60, 60), b.Repeat(b.Text("b"), 80, 80)});
    const NodeId bounded = b.And({either, b.Repeat(b.AnyChar(), 0, most)});
    const GrammarIr ir = BuildOrDie(b, b.Encode(Spelling::kUtf8, bounded));
    const auto automaton = *MaskedAutomaton::Create(ir, &masks, Limits(), budget);
    Work work(budget);
    const MaskRef mask = automaton->TextMask(automaton->start(), work);
    EXPECT_TRUE(mask->Allows(0)) << "a";
    EXPECT_EQ(mask->Allows(1), most == 90) << "b";
  }
}

TEST(AutomatonTest, DigitsOfAFractionAreNotSharedAsOne) {
  // Hundredths: one more digit behind 1.0 makes one, and behind 1.00 it does not.
  const std::shared_ptr<const Vocabulary> vocabulary = EmbeddedByteVocabulary();
  const TokenIndex index(vocabulary);
  MaskStore masks(&index, 1 << 26);
  Budget budget = Budget::Unlimited();
  IrBuilder b{Limits()};
  NumberSpec hundredths;
  hundredths.integer_digits = hundredths.fraction_digits = 1000;
  hundredths.exponent_digits = 0;
  hundredths.multiple_of = {ReadDecimal("0.01")};
  const NodeId number = b.Number(hundredths);
  const GrammarIr ir = BuildOrDie(b, b.Concat({number, b.Bytes("]")}));
  const auto automaton = *MaskedAutomaton::Create(ir, &masks, Limits(), budget);
  const auto takes_five = [&](absl::string_view text) {
    Work work(budget);
    std::size_t taken = 0;
    const TermId state = automaton->StepText(automaton->start(), text, &taken, work);
    const MaskRef mask = automaton->TextMask(state, work);
    bool takes = false;
    for (TokenId id = 0; id < vocabulary->size(); ++id)
      takes |= vocabulary->TokenBytes(id) == "5" && mask->Allows(id);
    return takes;
  };
  EXPECT_TRUE(takes_five("1.0"));
  EXPECT_FALSE(takes_five("1.00"));
  EXPECT_FALSE(takes_five("1.000"));
}

TEST(AutomatonTest, DeepNestingStaysShallowInKeys) {
  Fixture fixture(GrammarNamed("NestedLists"));
  MaskedAutomaton& automaton = fixture.automaton();
  Work work(fixture.budget());
  TermId state = automaton.start();
  for (int depth = 0; depth < 400; ++depth) {
    state = automaton.Step(state, '[', work);
    ASSERT_NE(automaton.Mask(state, work), nullptr);
  }
  // One mask for the document's start and one for each depth that a token can close to the end.
  EXPECT_LT(fixture.masks().stats().keys, 100);
}

// The mask behind each text takes no more than `work_bound` units, the text's own among them.
void ExpectMasksWithin(Fixture* fixture, std::int64_t work_bound,
                       const std::vector<std::string>& texts) {
  MaskedAutomaton& automaton = fixture->automaton();
  Budget::Bounds bounds;
  bounds.work = work_bound;
  for (const std::string& text : texts) {
    Budget budget(bounds);
    Work work(budget);
    std::size_t taken = 0;
    const TermId state = automaton.StepText(automaton.start(), text, &taken, work);
    EXPECT_EQ(taken, text.size());
    EXPECT_NE(automaton.Mask(state, work), nullptr) << text << ": " << work.error();
  }
}

// Names are told by their form, not walked letter by letter in all objects at once, whatever comes
// behind each of these.
TEST(AutomatonTest, MasksOfManyObjectsAreFarBelowAStepsBudget) {
  for (const bool tails : {false, true}) {
    IrBuilder b{Limits()};
    Fixture fixture(BuildOrDie(b, tails ? ObjectsBeforeTails(&b, 200) : ChoiceOfObjects(&b, 200)));
    ExpectMasksWithin(&fixture, Limits().step_work / 10,
                      {"", "{", "{\"", "{\"a", "{\"aa", "{\"aaa\"", "{\"1\":3,", "{\"1\":3,\""});
  }
}

// Texts of some length that hold one of each of `pairs` somewhere, spelled out: a choice of 2^n
// intersections.
NodeId SpelledOut(IrBuilder* b, const std::vector<std::pair<std::string, std::string>>& pairs) {
  const NodeId any = b->Repeat(b->AnyChar(), 0, kUnbounded);
  std::vector<NodeId> ways;
  for (std::size_t way = 0; way < std::size_t{1} << pairs.size(); ++way) {
    std::vector<NodeId> parts = {b->Repeat(b->AnyChar(), 8, kUnbounded)};
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const std::string& text = (way >> i & 1) != 0 ? pairs[i].second : pairs[i].first;
      parts.push_back(b->Concat({any, b->Text(text), any}));
    }
    ways.push_back(Quoted(b, b->And(std::move(parts))));
  }
  return b->Alt(std::move(ways));
}

// What is found in many intersections at once is read once.
TEST(AutomatonTest, MasksOfManyIntersectionsAreFarBelowAStepsBudget) {
  IrBuilder b{Limits()};
  Fixture fixture(BuildOrDie(
      b,
      SpelledOut(
          &b,
          {{"ab1", "b12"}, {"bc1", "c12"}, {"ca1", "a12"}, {"0", "3"}, {"d6", "6d"}, {"{", "["}})));
  EXPECT_TRUE(fixture.Accepts(R"("b12c12a12d63[")"));
  EXPECT_FALSE(fixture.Accepts(R"("b12c12a1d63[")"));
  ExpectMasksWithin(&fixture, Limits().step_work / 4,
                    {"", "\"", "\"a", "\"ab1", "\"ab1c1", "\"ab1c12ca106"});
}

TEST(AutomatonTest, AStepOverItsBudgetLeavesTheGrammarWhole) {
  Fixture fixture(GrammarNamed("ButSomeTexts"));
  Budget::Bounds bounds;
  bounds.work = 0;
  bounds.work_name = "step_work";
  Budget small(bounds);
  Work starved(small);
  EXPECT_EQ(fixture.automaton().Mask(fixture.automaton().start(), starved), nullptr);
  EXPECT_EQ(starved.error().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(fixture.Accepts("\"abcd\""));
  EXPECT_FALSE(fixture.Accepts("\"abc\""));
}

// What is known costs no work. So a caller without any is told where a token leads, once one has
// taken it, although another byte has been taken from there since, as a mask's walk takes it.
TEST(AutomatonTest, AStepByAByteKeepsWhereTokensLead) {
  IrBuilder b{Limits()};
  const NodeId either = b.Alt({b.Bytes("abcabc"), b.Bytes("cab")});
  Fixture fixture(BuildOrDie(b, b.Concat({b.Bytes("0"), either, b.Bytes("1")})));
  MaskedAutomaton& automaton = fixture.automaton();
  TokenId abc = 0;
  while (fixture.index().vocabulary().TokenBytes(abc) != "abc") ++abc;
  Work work(fixture.budget());
  std::size_t taken = 0;
  const TermId state = automaton.Step(automaton.start(), '0', work);
  const TermId behind = automaton.StepToken(state, abc, &taken, work);
  ASSERT_EQ(taken, 3U);

  ASSERT_NE(automaton.Step(state, 'c', work), kNothingTerm);
  Budget nothing({.work = 0, .work_name = "step_work"});
  Work starved(nothing);
  EXPECT_EQ(automaton.StepToken(state, abc, &taken, starved), behind);
  EXPECT_EQ(taken, 3U);
  EXPECT_TRUE(starved.ok()) << starved.error();
}

}  // namespace
}  // namespace maskd
