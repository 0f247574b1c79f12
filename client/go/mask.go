package maskd

import (
	"math"
	"math/bits"

	"google.golang.org/grpc/codes"

	pb "maskd.io/maskd/maskdv1"
)

// Form is how a mask came.
type Form uint8

// The forms that a reader of masks has to tell apart. The two that speak of the dictionary are read as what
// it holds.
const (
	// FormFull masks nothing: the row has finished, or is free.
	FormFull Form = iota
	// FormInvalid is no mask: a draft on the way to this position was refused.
	FormInvalid
	// FormDense has words only.
	FormDense
	// FormAllowedIDs allows exactly the ids.
	FormAllowedIDs
	// FormForbiddenIDs allows all of the vocabulary but the ids.
	FormForbiddenIDs
)

// Mask is the set of tokens that may come next at one position. A plain value: it stays as it is for as long
// as it is kept. Its slices are not to be written to.
type Mask struct {
	form        Form
	ids         []TokenID
	words       []uint32
	vocabSize   int
	wordCount   int
	temperature *float32
	biases      []*pb.LogitBias
}

// Form is how the mask came.
func (m *Mask) Form() Form { return m.form }

// Full is whether there is nothing to mask.
func (m *Mask) Full() bool { return m.form == FormFull }

// Invalid is whether there is no mask: a draft on the way here was refused.
func (m *Mask) Invalid() bool { return m.form == FormInvalid }

// IDs are the listed tokens, ascending; empty but for the two forms that are lists.
func (m *Mask) IDs() []TokenID { return m.ids }

// Temperature is what the allowed logits are to be divided by, 0: the greatest is to be taken. Nil: the
// engine's own.
func (m *Mask) Temperature() *float32 { return m.temperature }

// Biases are what is to be added to logits before that; ids ascending, all of them allowed.
func (m *Mask) Biases() []*pb.LogitBias { return m.biases }

// Words are the packed words, whatever the form; nil where the mask is full or invalid.
func (m *Mask) Words() []uint32 {
	if m.words != nil || m.form == FormFull || m.form == FormInvalid {
		return m.words
	}
	words := make([]uint32, m.wordCount)
	m.expand(words)
	return words
}

// CopyTo writes the words into row, which may be longer: words past the mask become 0, and all bits 1 where
// the mask is full. Errors, nothing being written: InvalidArgument (row is too short), FailedPrecondition
// (the mask is invalid).
func (m *Mask) CopyTo(row []uint32) error {
	switch {
	case m.form == FormInvalid:
		return errorf(codes.FailedPrecondition, "there is no mask: a draft before it was refused")
	case m.form == FormFull:
		for i := range row {
			row[i] = math.MaxUint32
		}
		return nil
	case len(row) < m.wordCount:
		return errorf(codes.InvalidArgument, "a row of %d words is too short for a mask of %d", len(row),
			m.wordCount)
	}
	clear(row[m.wordCount:])
	if m.words != nil {
		copy(row, m.words)
		return nil
	}
	m.expand(row[:m.wordCount])
	return nil
}

// expand writes the words of a list.
func (m *Mask) expand(words []uint32) {
	if m.form == FormAllowedIDs {
		clear(words)
		for _, id := range m.ids {
			words[id/32] |= 1 << (id % 32)
		}
		return
	}
	for i := range words {
		words[i] = vocabularyWord(i, m.vocabSize)
	}
	for _, id := range m.ids {
		words[id/32] &^= 1 << (id % 32)
	}
}

// vocabularyWord has a bit for each token of the vocabulary.
func vocabularyWord(index, vocabSize int) uint32 {
	switch left := vocabSize - 32*index; {
	case left >= 32:
		return math.MaxUint32
	case left <= 0:
		return 0
	default:
		return 1<<left - 1
	}
}

var minusInfinity = float32(math.Inf(-1))

// Apply masks one row of logits in place: those of tokens that are not allowed, and those past the
// vocabulary, become minus infinity; biases are added and temperatures divided by first, where the mask
// carries them. Full does nothing. Errors, nothing being written: InvalidArgument (fewer logits than the
// vocabulary), FailedPrecondition (the mask is invalid).
func (m *Mask) Apply(logits []float32) error {
	if m.form == FormFull {
		return nil
	}
	if m.form == FormInvalid {
		return errorf(codes.FailedPrecondition, "there is no mask: a draft before it was refused")
	}
	if len(logits) < m.vocabSize {
		return errorf(codes.InvalidArgument, "%d logits are fewer than the vocabulary's %d tokens",
			len(logits), m.vocabSize)
	}
	m.tune(logits)
	switch m.form {
	case FormForbiddenIDs:
		for _, id := range m.ids {
			logits[id] = minusInfinity
		}
		fill(logits[m.vocabSize:])
	default:
		applyWords(m.Words(), logits[:m.vocabSize])
		fill(logits[m.vocabSize:])
	}
	return nil
}

func (m *Mask) tune(logits []float32) {
	for _, bias := range m.biases {
		logits[bias.GetId()] += bias.GetBias()
	}
	if m.temperature == nil || *m.temperature == 0 || *m.temperature == 1 {
		return
	}
	scale := 1 / *m.temperature
	for i := range logits[:m.vocabSize] {
		logits[i] *= scale
	}
}

func fill(logits []float32) {
	for i := range logits {
		logits[i] = minusInfinity
	}
}

// applyWords walks over the forbidden tokens of each word; most words are all or nothing.
func applyWords(words []uint32, logits []float32) {
	for i, word := range words {
		first := 32 * i
		if first >= len(logits) {
			return
		}
		part := logits[first:min(first+32, len(logits))]
		if word == 0 {
			fill(part)
			continue
		}
		for forbidden := ^word; forbidden != 0; forbidden &= forbidden - 1 {
			bit := bits.TrailingZeros32(forbidden)
			if bit >= len(part) {
				break
			}
			part[bit] = minusInfinity
		}
	}
}
