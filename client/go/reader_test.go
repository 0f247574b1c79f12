package maskd

import (
	"math"
	"testing"

	"google.golang.org/grpc/codes"

	pb "maskd.io/maskd/maskdv1"
)

func testWelcome() *pb.Welcome {
	return &pb.Welcome{Tokenizer: &pb.Tokenizer{VocabSize: 40}, MaskWords: 2, DictionarySize: 2}
}

func dense(slot *uint32, words ...byte) *pb.Position {
	return &pb.Position{Form: &pb.Position_Dense{Dense: words}, DictionarySlot: slot}
}

func allowed(ids ...int32) *pb.Position {
	return &pb.Position{Form: &pb.Position_AllowedIds{AllowedIds: &pb.IdList{Ids: ids}}}
}

func delta(base uint32, indices []uint32, words []uint32) *pb.Position {
	return &pb.Position{Form: &pb.Position_Delta{Delta: &pb.MaskDelta{Base: base, WordIndices: indices, Words: words}}}
}

func slot(number uint32) *uint32 { return &number }

// TestBrokenPositionIsInternal: nothing that a server sends is trusted.
func TestBrokenPositionIsInternal(t *testing.T) {
	nan := float32(math.NaN())
	tuned := func(position *pb.Position, temperature *float32, biases ...*pb.LogitBias) *pb.Position {
		position.Temperature, position.Biases = temperature, biases
		return position
	}
	for name, position := range map[string]*pb.Position{
		"NoForm":            {},
		"DenseTooShort":     dense(nil, 1, 2, 3, 4),
		"DenseTooLong":      dense(nil, make([]byte, 9)...),
		"IDPastVocabulary":  allowed(40),
		"IDNegative":        allowed(-1),
		"IDsDoNotAscend":    allowed(3, 3),
		"EmptySlot":         {Form: &pb.Position_SameAs{SameAs: 1}},
		"SlotPastEnd":       {Form: &pb.Position_SameAs{SameAs: math.MaxUint32}},
		"PutPastEnd":        dense(slot(2), make([]byte, 8)...),
		"PutFull":           {Form: &pb.Position_Full{Full: true}, DictionarySlot: slot(1)},
		"DeltaOfEmptySlot":  delta(1, nil, nil),
		"DeltaWordPastEnd":  delta(0, []uint32{2}, []uint32{1}),
		"DeltaUneven":       delta(0, []uint32{0, 1}, []uint32{1}),
		"TemperatureNaN":    tuned(allowed(1), &nan),
		"BiasPastVocab":     tuned(allowed(1), nil, &pb.LogitBias{Id: 40}),
		"BiasNotFinite":     tuned(allowed(1), nil, &pb.LogitBias{Id: 1, Bias: nan}),
		"BiasesDoNotAscend": tuned(allowed(1), nil, &pb.LogitBias{Id: 1}, &pb.LogitBias{Id: 1}),
	} {
		t.Run(name, func(t *testing.T) {
			masks := newMaskReader(testWelcome())
			if _, err := masks.read(dense(slot(0), make([]byte, 8)...)); err != nil {
				t.Fatal(err)
			}
			if _, err := masks.read(position); CodeOf(err) != codes.Internal {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestMasksStayAsTheyAre: a mask that is kept does not change with its message or with the dictionary.
func TestMasksStayAsTheyAre(t *testing.T) {
	masks := newMaskReader(testWelcome())
	bytes := []byte{1, 0, 0, 0, 2, 0, 0, 0}
	first, err := masks.read(dense(slot(0), bytes...))
	check(t, err)
	clear(bytes)
	changed, err := masks.read(delta(0, []uint32{1}, []uint32{0x80}))
	check(t, err)
	_, err = masks.read(dense(slot(0), make([]byte, 8)...))
	check(t, err)
	if words := first.Words(); words[0] != 1 || words[1] != 2 {
		t.Errorf("the first is %v", words)
	}
	if words := changed.Words(); words[0] != 1 || words[1] != 0x80 {
		t.Errorf("the delta is %v", words)
	}
}

// TestToken90 is the layout's own example.
func TestToken90(t *testing.T) {
	welcome := &pb.Welcome{Tokenizer: &pb.Tokenizer{VocabSize: 128}, MaskWords: 4}
	mask, err := newMaskReader(welcome).read(allowed(90))
	check(t, err)
	if words := mask.Words(); words[2] != 67108864 || words[0]|words[1]|words[3] != 0 {
		t.Errorf("%v", words)
	}
}

// TestLogitsTooShort: an error before anything is written.
func TestLogitsTooShort(t *testing.T) {
	mask, err := newMaskReader(testWelcome()).read(allowed(1))
	check(t, err)
	logits := make([]float32, 39)
	if err := mask.Apply(logits); CodeOf(err) != codes.InvalidArgument || logits[0] != 0 {
		t.Errorf("%v, %v", err, logits[0])
	}
	if err := mask.CopyTo(make([]uint32, 1)); CodeOf(err) != codes.InvalidArgument {
		t.Errorf("%v", err)
	}
}
