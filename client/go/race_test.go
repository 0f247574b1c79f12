package maskd

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
)

// openFake opens at once where the address is "there", fails at once where it is "refuses", and else is silent.
func openFake(ctx context.Context, address string) (*Stream, error) {
	switch address {
	case "there":
		return &Stream{}, nil
	case "refuses":
		return nil, errorf(codes.Unavailable, "refused")
	default:
		<-ctx.Done()
		return nil, fromCall(ctx.Err())
	}
}

// All times are those of a simulated clock.
func TestRace(t *testing.T) {
	for _, c := range []struct {
		addresses []string
		said      []string // in this order
		after     time.Duration
	}{
		{[]string{"there", "silent"}, []string{"there"}, 0},
		{[]string{"silent", "silent", "silent", "there"}, []string{"there"}, 750 * time.Millisecond},
		{[]string{"refuses", "refuses", "there"}, []string{"refuses", "refuses", "there"}, 0},
		{[]string{"silent", "refuses", "there"}, []string{"refuses", "there"}, 250 * time.Millisecond},
		{[]string{"refuses", "refuses"}, []string{"refuses", "refuses"}, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			race := newRace(t.Context(), c.addresses, openFake)
			var said []string
			for !race.isOver() {
				tried, err := race.next(t.Context())
				check(t, err)
				said = append(said, tried.address)
				if tried.stream != nil {
					break
				}
			}
			race.close() // or the attempts that run keep this test from its end
			if !slices.Equal(said, c.said) || time.Since(began) != c.after {
				t.Errorf("%v: %v after %v, want %v after %v", c.addresses, said, time.Since(began), c.said, c.after)
			}
		})
	}
}

func TestServersThatRefuseForLoadAreLeftAloneForAsLongAsTheySay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		servers := newServerList([]string{"a", "b", "c"})
		servers.goOn()
		refuse := func(address string, after time.Duration) {
			servers.note(address, &Error{Code: codes.ResourceExhausted, RetryAfter: after})
		}
		refuse("b", 3*time.Second)
		servers.note("c", errorf(codes.Unavailable, "gone"))
		if asked := servers.toAsk(); !slices.Equal(asked, []string{"c", "a"}) {
			t.Errorf("asks %v", asked)
		}
		if at, _ := servers.earliest(began.Add(time.Millisecond)); at != began.Add(time.Millisecond) {
			t.Errorf("asks at %v though a and c have said nothing", at)
		}
		refuse("a", 2*time.Second)
		refuse("c", 4*time.Second)
		at, err := servers.earliest(began.Add(time.Millisecond))
		if at != began.Add(2*time.Second) || CodeOf(err) != codes.ResourceExhausted {
			t.Errorf("asks at %v, %v", at, err)
		}
		time.Sleep(2 * time.Second)
		if asked := servers.toAsk(); !slices.Equal(asked, []string{"a"}) {
			t.Errorf("asks %v", asked)
		}
	})
}
