package maskd

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// spreadCases are what all clients that spread agree on.
type spreadCases struct {
	Places []struct {
		Streams []int
		Moves   [][3]int
	}
	OldFigures []struct {
		Streams   []int
		Own, Rank int
		Place     *int
	} `json:"old_figures"`
	Pace []struct {
		Event string
		Soon  bool
	}
	Names, Servers []string
}

func loadSpread(t *testing.T) (cases spreadCases) {
	loadJSON(t, "spread.json", &cases)
	return cases
}

func TestPlaceToGo(t *testing.T) {
	cases := loadSpread(t)
	for _, c := range cases.Places {
		var said [][3]int
		for own, count := range c.Streams {
			for rank := 1; rank <= count; rank++ {
				if place := placeToGo(c.Streams, own, rank); place >= 0 {
					said = append(said, [3]int{own, rank, place})
				}
			}
		}
		if !slices.Equal(said, c.Moves) {
			t.Errorf("of %v go %v, not %v", c.Streams, said, c.Moves)
		}
	}
	for _, c := range cases.OldFigures {
		want := -1
		if c.Place != nil {
			want = *c.Place
		}
		if goes := placeToGo(c.Streams, c.Own, c.Rank); goes != want {
			t.Errorf("%v, rank %d of server %d goes to %d, not %d", c.Streams, c.Rank, c.Own, goes, want)
		}
	}
}

// All at once, by the same figures: afterwards none has two more than another.
func TestTogetherTheyAreEvenInOneRound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		streams := make([]int, 1+random.IntN(8))
		for i := range streams {
			streams[i] = random.IntN(20)
		}
		after := slices.Clone(streams)
		for own, count := range streams {
			for rank := 1; rank <= count; rank++ {
				if place := placeToGo(streams, own, rank); place >= 0 {
					after[own]--
					after[place]++
				}
			}
		}
		if slices.Max(after)-slices.Min(after) > 1 {
			t.Fatalf("%v became %v", streams, after)
		}
	}
}

func TestLookPace(t *testing.T) {
	pace := lookPace{every: 4 * time.Second}
	for number, c := range loadSpread(t).Pace {
		switch c.Event {
		case "came":
			pace.came()
		case "even", "uneven":
			pace.looked(c.Event == "uneven")
		}
		most := pace.every
		if c.Soon {
			most /= 8
		}
		if wait := pace.next(); wait < most/2 || wait > most {
			t.Errorf("look %d is in %v", number, wait)
		}
	}
}

func TestNames(t *testing.T) {
	cases := loadSpread(t)
	for _, name := range cases.Names {
		if !isName(name) {
			t.Errorf("%s is a name", name)
		}
	}
	for _, server := range cases.Servers {
		if isName(server) {
			t.Errorf("%s is a server", server)
		}
	}
}
