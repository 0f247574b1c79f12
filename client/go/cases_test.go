package maskd

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "maskd.io/maskd/maskdv1"
)

const interop = "../../tests/interop"

// interopCase is a case of tests/interop/cases.json.
type interopCase struct {
	Name   string
	Kind   string
	Stream streamCase
	Steps  [][]verb
}

type streamCase struct {
	LogitsWidth     uint32 `json:"logits_width"`
	ShortForms      *bool  `json:"short_forms"`
	DictionarySize  uint32 `json:"dictionary_size"`
	WantTemperature bool   `json:"want_temperature"`
	WantBias        bool   `json:"want_bias"`
}

func (s streamCase) options() StreamOptions {
	return StreamOptions{LogitsWidth: s.LogitsWidth, DenseOnly: s.ShortForms != nil && !*s.ShortForms,
		DictionarySize: s.DictionarySize, WantTemperature: s.WantTemperature, WantBias: s.WantBias}
}

type verb struct {
	Verb      string
	Row       RowID
	Rows      RowID
	Child     RowID
	Tokens    []TokenID
	Parents   []int32
	Count     uint32
	Ms        int64
	GrammarID string `json:"grammar_id"`
	Grammar   struct{ Kind, Source string }
	StopIDs   []TokenID `json:"stop_ids"`
	MinTokens uint32    `json:"min_tokens"`
	Remaining *uint32   `json:"remaining_tokens"`
	Reasoning *struct {
		EndTokens []TokenID `json:"end_tokens"`
		MaxTokens *uint32   `json:"max_tokens"`
	}
	Temperature *float32
	Biases      []*pb.LogitBias
}

func (v verb) open(step *Step, row RowID) {
	options := OpenOptions{Tokens: v.Tokens, StopIDs: v.StopIDs, MinTokens: v.MinTokens,
		RemainingTokens: v.Remaining, Temperature: v.Temperature, Biases: v.Biases}
	if v.Reasoning != nil {
		options.Reasoning = &pb.ReasoningGate{EndTokens: v.Reasoning.EndTokens, MaxTokens: v.Reasoning.MaxTokens}
	}
	if v.GrammarID != "" {
		step.OpenWith(row, GrammarID(v.GrammarID), options)
	} else {
		step.OpenWith(row, Grammar{Kind: v.Grammar.Kind, Source: v.Grammar.Source}, options)
	}
}

// say does the verb for one row.
func (v verb) say(t *testing.T, step *Step, row RowID, snapshots map[RowID]*pb.OpenRow) {
	switch v.Verb {
	case "open":
		v.open(step, row)
	case "open_snapshot":
		step.OpenSnapshot(snapshots[row])
	case "take":
		step.Take(row, v.Tokens...)
	case "rollback":
		step.Rollback(row, v.Count)
	case "remaining":
		step.SetRemaining(row, v.Count)
	case "draft":
		step.Draft(row, v.Tokens, v.Parents)
	case "want_forced":
		step.WantForced(row)
	case "snapshot":
		step.Snapshot(row)
	case "fork":
		step.Fork(row, v.Child)
	case "close":
		step.Close(row)
	case "wait":
		step.WaitForCompile(time.Duration(v.Ms) * time.Millisecond)
	default:
		t.Fatalf("no verb %q", v.Verb)
	}
}

func sayAll(t *testing.T, step *Step, verbs []verb, snapshots map[RowID]*pb.OpenRow) *Step {
	for _, each := range verbs {
		for row := each.Row; row < each.Row+max(each.Rows, 1); row++ {
			each.say(t, step, row, snapshots)
		}
	}
	return step
}

// golden is what a server answered to a session: golden/NAME.json.
type golden struct {
	Hello, Welcome []byte
	Masks          []string
	Steps          []goldenStep
}

type goldenStep struct {
	Request, Reply []byte
	Rows           []goldenRow
	Snapshots      []RowID
}

type goldenRow struct {
	Row            RowID
	Count          RowID
	State          string
	TokenCount     uint32 `json:"token_count"`
	MayEnd         bool   `json:"may_end"`
	Positions      []goldenPosition
	AcceptedDrafts *uint32 `json:"accepted_drafts"`
	Error          *struct {
		Code          int
		Reason, Place string
		Token         *struct {
			Index uint32
			ID    TokenID
		}
	}
	ForcedTokens []TokenID `json:"forced_tokens"`
	ForcedDraft  []TokenID `json:"forced_draft"`
}

type goldenPosition struct {
	Mask          *int
	Full, Invalid bool
	Temperature   *float32
	Biases        []*pb.LogitBias
}

func loadCases(t *testing.T) []interopCase {
	var file struct{ Cases []interopCase }
	loadJSON(t, "cases.json", &file)
	return file.Cases
}

func loadGolden(t *testing.T, name string) golden {
	var file golden
	loadJSON(t, filepath.Join("golden", name+".json"), &file)
	return file
}

func loadJSON(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(interop, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// wordsOf are the words of a mask in hexadecimal digits of its bytes.
func wordsOf(t *testing.T, digits string) []uint32 {
	bytes, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	words := make([]uint32, len(bytes)/4)
	for i, each := range bytes {
		words[i/4] |= uint32(each) << (8 * (i % 4))
	}
	return words
}

// expectResult holds a result to what every client must make of the reply.
func expectResult(t *testing.T, masks []string, want goldenStep, got *Result) {
	t.Helper()
	var snapshots []RowID
	for _, each := range got.Snapshots {
		snapshots = append(snapshots, each.GetRow())
	}
	if !slices.Equal(snapshots, want.Snapshots) {
		t.Errorf("snapshots of rows %v, want %v", snapshots, want.Snapshots)
	}
	rows := got.Rows
	for _, row := range want.Rows {
		for i := range row.Count {
			if len(rows) == 0 {
				t.Fatalf("no answer for row %d", row.Row+i)
			}
			expectRow(t, masks, row, row.Row+i, &rows[0])
			rows = rows[1:]
		}
	}
	if len(rows) > 0 {
		t.Errorf("%d answers too many", len(rows))
	}
}

func expectRow(t *testing.T, masks []string, want goldenRow, id RowID, got *Row) {
	t.Helper()
	state := strings.TrimPrefix(got.State.String(), "ROW_STATE_")
	if got.ID != id || state != want.State || got.TokenCount != want.TokenCount || got.MayEnd != want.MayEnd {
		t.Errorf("row %d is %v with %d tokens, may end %v; want row %d, %s, %d, %v", got.ID, state,
			got.TokenCount, got.MayEnd, id, want.State, want.TokenCount, want.MayEnd)
	}
	if (got.AcceptedDrafts == nil) != (want.AcceptedDrafts == nil) ||
		got.AcceptedDrafts != nil && *got.AcceptedDrafts != *want.AcceptedDrafts {
		t.Errorf("row %d: accepted drafts %v", id, got.AcceptedDrafts)
	}
	if !slices.Equal(got.ForcedTokens, want.ForcedTokens) || !slices.Equal(got.ForcedDraft, want.ForcedDraft) {
		t.Errorf("row %d: forced %v and %v", id, got.ForcedTokens, got.ForcedDraft)
	}
	expectError(t, want, id, got)
	if len(got.Masks) != len(want.Positions) {
		t.Fatalf("row %d has %d masks, want %d", id, len(got.Masks), len(want.Positions))
	}
	for i, position := range want.Positions {
		expectMask(t, masks, position, &got.Masks[i])
	}
}

func expectError(t *testing.T, want goldenRow, id RowID, got *Row) {
	t.Helper()
	if (got.Err == nil) != (want.Error == nil) {
		t.Fatalf("row %d: error %v, want %v", id, got.Err, want.Error)
	}
	if want.Error == nil {
		return
	}
	if got.Err.Code != codes.Code(want.Error.Code) || got.Err.Reason != want.Error.Reason ||
		got.Err.Place != want.Error.Place {
		t.Errorf("row %d: error %+v, want %+v", id, *got.Err, *want.Error)
	}
	if token := want.Error.Token; token != nil &&
		(got.RefusedToken.GetIndex() != token.Index || got.RefusedToken.GetId() != token.ID) {
		t.Errorf("row %d: refused token %v, want %v", id, got.RefusedToken, *token)
	}
}

func expectMask(t *testing.T, masks []string, want goldenPosition, got *Mask) {
	t.Helper()
	if got.Full() != want.Full || got.Invalid() != want.Invalid {
		t.Fatalf("mask full %v, invalid %v; want %v, %v", got.Full(), got.Invalid(), want.Full, want.Invalid)
	}
	if (got.Temperature() == nil) != (want.Temperature == nil) ||
		want.Temperature != nil && *got.Temperature() != *want.Temperature {
		t.Errorf("temperature %v, want %v", got.Temperature(), want.Temperature)
	}
	if !slices.EqualFunc(got.Biases(), want.Biases, func(a, b *pb.LogitBias) bool { return proto.Equal(a, b) }) {
		t.Errorf("biases %v, want %v", got.Biases(), want.Biases)
	}
	if want.Mask == nil {
		return
	}
	words := wordsOf(t, masks[*want.Mask])
	if !slices.Equal(got.Words(), words) {
		t.Fatalf("form %d: words %08x, want %08x", got.Form(), got.Words(), words)
	}
	row := make([]uint32, len(words)+2)
	row[len(words)] = 7
	if err := got.CopyTo(row); err != nil || !slices.Equal(row, append(words, 0, 0)) {
		t.Errorf("CopyTo: %08x, %v", row, err)
	}
	expectApplied(t, words, want, got)
}

// expectApplied masks logits wider than the words.
func expectApplied(t *testing.T, words []uint32, want goldenPosition, mask *Mask) {
	t.Helper()
	logits := make([]float32, 32*len(words)+5)
	for i := range logits {
		logits[i] = float32(i) + 1
	}
	if err := mask.Apply(logits); err != nil {
		t.Fatal(err)
	}
	for i, got := range logits {
		expected := minusInfinity
		if i/32 < len(words) && words[i/32]>>(i%32)&1 == 1 {
			expected = float32(i) + 1
			for _, bias := range want.Biases {
				if int(bias.GetId()) == i {
					expected += bias.GetBias()
				}
			}
			if want.Temperature != nil && *want.Temperature > 0 {
				expected /= *want.Temperature
			}
		}
		if got != expected {
			t.Fatalf("logit %d is %g, want %g", i, got, expected)
		}
	}
}
