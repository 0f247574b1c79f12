// A message there and back, beside the google.rpc and grpc.health files that gRPC itself registers.
package main

import (
	"log"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"

	maskdv1 "maskd.io/protos/maskd/v1"
)

func main() {
	_ = &errdetails.ErrorInfo{Domain: "maskd"}
	_ = &grpc_health_v1.HealthCheckRequest{Service: "liveness"}
	_ = maskdv1.NewMaskServiceClient
	sent := &maskdv1.CheckRequest{Input: &maskdv1.CheckRequest_RawText{RawText: []byte{255}}}
	bytes, err := proto.Marshal(sent)
	if err != nil {
		log.Fatal(err)
	}
	read := &maskdv1.CheckRequest{}
	if err := proto.Unmarshal(bytes, read); err != nil || !proto.Equal(sent, read) {
		log.Fatal("the message is not what was sent: ", err)
	}
}
