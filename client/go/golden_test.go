package maskd

import (
	"testing"

	"google.golang.org/protobuf/proto"

	pb "maskd.io/maskd/maskdv1"
)

// TestGolden says each session's steps by the verbs, which must be the golden requests, and reads the golden
// replies, which must be the golden masks. No server is needed.
func TestGolden(t *testing.T) {
	for _, each := range loadCases(t) {
		if each.Kind != "session" {
			continue
		}
		t.Run(each.Name, func(t *testing.T) {
			golden := loadGolden(t, each.Name)
			hello := &pb.DecodeRequest{Message: &pb.DecodeRequest_Hello{Hello: each.Stream.options().hello()}}
			expectRequest(t, hello, golden.Hello)
			welcome := readResponse(t, golden.Welcome).GetWelcome()
			if err := checkWelcome(hello.GetHello(), welcome); err != nil {
				t.Fatal(err)
			}
			masks := newMaskReader(welcome)
			step, snapshots := NewStep(), map[RowID]*pb.OpenRow{}
			for i, verbs := range each.Steps {
				want := golden.Steps[i]
				sayAll(t, step.Clear(), verbs, snapshots)
				step.message.Step = uint64(i) + 1
				request := &pb.DecodeRequest{Message: &pb.DecodeRequest_Step{Step: &step.message}}
				expectRequest(t, request, want.Request)
				result, err := readReply(readResponse(t, want.Reply).GetStep(), masks)
				if err != nil {
					t.Fatalf("step %d: %v", i+1, err)
				}
				for _, snapshot := range result.Snapshots {
					snapshots[snapshot.GetRow()] = snapshot
				}
				expectResult(t, golden.Masks, want, result)
			}
		})
	}
}

// expectRequest compares messages: languages write the fields of a oneof in different places.
func expectRequest(t *testing.T, got *pb.DecodeRequest, golden []byte) {
	t.Helper()
	want := &pb.DecodeRequest{}
	if err := proto.Unmarshal(golden, want); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(got, want) {
		t.Fatalf("says %v, want %v", got, want)
	}
}

func readResponse(t *testing.T, from []byte) *pb.DecodeResponse {
	t.Helper()
	response := &pb.DecodeResponse{}
	if err := proto.Unmarshal(from, response); err != nil {
		t.Fatal(err)
	}
	return response
}
