package maskd

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestPlaceToGo(t *testing.T) {
	for _, c := range []struct {
		streams         []int
		own, rank, goes int
	}{
		{[]int{6, 4, 2}, 0, 4, -1},
		{[]int{6, 4, 2}, 0, 5, 2},
		{[]int{6, 4, 2}, 0, 6, 2},
		{[]int{6, 4, 2}, 1, 4, -1},
		{[]int{5, 4, 4}, 0, 5, -1},
		{[]int{0, 1}, 1, 1, -1},
		{[]int{4, 1}, 0, 9, 1}, // a figure that is older than the rank
		{[]int{0, 0}, 0, 3, -1},
	} {
		if goes := placeToGo(c.streams, c.own, c.rank); goes != c.goes {
			t.Errorf("%v, rank %d of server %d goes to %d, not %d", c.streams, c.rank, c.own, goes, c.goes)
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
	isUsual := func() bool { wait := pace.next(); return wait >= 2*time.Second && wait <= 4*time.Second }
	if !isUsual() {
		t.Error("the first look is as ever")
	}
	pace.looked(true)
	for range mostSoon {
		if isUsual() {
			t.Error("uneven is looked at sooner")
		}
		pace.looked(true)
	}
	if !isUsual() {
		t.Error("uneven for ever is looked at as ever")
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"dns:///maskd:7411", "dns:maskd.ns.svc:7411", "localhost:7411"} {
		if !isName(name) {
			t.Errorf("%s is a name", name)
		}
	}
	for _, server := range []string{"unix:/run/maskd.sock", "127.0.0.1:7411", "[::1]:7411",
		"dns://10.0.0.2/maskd:7411", "10.0.0.7:7411@maskd", "maskd", "dns:///10.0.0.7:7411"} {
		if isName(server) {
			t.Errorf("%s is a server", server)
		}
	}
}
