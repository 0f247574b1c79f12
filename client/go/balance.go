package maskd

import (
	"math/rand/v2"
	"slices"
	"time"
)

// mostSoon is how many looks in a row come sooner.
const mostSoon = 4

// placeToGo is where the stream of a rank, 1 the oldest, of server own goes: an index of streams, which has how
// many each server has; -1: it stays. The goal is the mean, rounded up where there are most now, else down. Of a
// server that has more the youngest go, each to another of the places that are free: no chance is in it, and a
// herd does not swing.
func placeToGo(streams []int, own, rank int) int {
	total := 0
	mostFirst := make([]int, len(streams))
	for i, count := range streams {
		total += count
		mostFirst[i] = i
	}
	slices.SortStableFunc(mostFirst, func(a, b int) int { return streams[b] - streams[a] })
	goals := make([]int, len(streams))
	for n, i := range mostFirst {
		goals[i] = total / len(streams)
		if n < total%len(streams) {
			goals[i]++
		}
	}
	if rank <= goals[own] {
		return -1
	}
	number := rank - goals[own] - 1 // among those that go: first all of the fullest server
	for _, i := range mostFirst {
		if i == own {
			break
		}
		number += max(0, streams[i]-goals[i])
	}
	last := -1
	for _, i := range slices.Backward(mostFirst) {
		free := goals[i] - streams[i]
		if free <= 0 {
			continue
		}
		last = i
		if number < free {
			break
		}
		number -= free
	}
	return last
}

// lookPace says when a stream looks at the servers: every `every` or sooner, half of it at least, so that
// streams that began together part; an eighth of that a few times in a row, where it has just come to a server
// or saw that streams were uneven and others had to go.
type lookPace struct {
	every time.Duration
	soon  int
}

func (p *lookPace) next() time.Duration {
	wait := float64(p.every) * (0.5 + rand.Float64()/2)
	if p.soon > 0 {
		wait /= 8
	}
	return time.Duration(wait)
}

func (p *lookPace) came() { p.soon = mostSoon }

func (p *lookPace) looked(isUneven bool) {
	if p.soon > 0 {
		p.soon--
	} else if isUneven {
		p.soon = mostSoon
	}
}
