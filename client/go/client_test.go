package maskd

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	pb "maskd.io/maskd/maskdv1"
)

// tokenServer answers only those who have the token.
type tokenServer struct {
	pb.UnimplementedTokenizerServiceServer
}

func (tokenServer) GetTokenizer(ctx context.Context, _ *pb.GetTokenizerRequest) (*pb.GetTokenizerResponse, error) {
	if said, _ := metadata.FromIncomingContext(ctx); strings.Join(said.Get("authorization"), ",") != "Bearer secret" {
		return nil, errorf(codes.Unauthenticated, "no token")
	}
	return &pb.GetTokenizerResponse{Tokenizer: &pb.Tokenizer{Name: "m"}}, nil
}

// selfSigned is a certificate for localhost and the authorities that trust it.
func selfSigned(t *testing.T) (tls.Certificate, *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"},
		NotAfter: time.Now().Add(time.Hour)}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	check(t, err)
	parsed, err := x509.ParseCertificate(signed)
	check(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key}, pool
}

func TestTLSAndToken(t *testing.T) {
	certificate, pool := selfSigned(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	server := grpc.NewServer(grpc.Creds(credentials.NewServerTLSFromCert(&certificate)))
	pb.RegisterTokenizerServiceServer(server, tokenServer{})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	address := listener.Addr().String()
	trusting := &tls.Config{RootCAs: pool, ServerName: "localhost"}

	client, err := Connect(t.Context(), address, &Options{TLS: trusting, Token: "secret"})
	check(t, err)
	check(t, client.Close())
	_, err = Connect(t.Context(), address, &Options{TLS: trusting})
	expectCode(t, err, codes.Unauthenticated)
	_, err = Connect(t.Context(), address, nil)
	expectCode(t, err, codes.Unavailable)
}

// TestNobodyThere: the cause and the address, at once.
func TestNobodyThere(t *testing.T) {
	start := time.Now()
	_, err := Connect(t.Context(), "unix:/no/such/socket", nil)
	expectCode(t, err, codes.Unavailable)
	if text := err.Error(); !strings.Contains(text, "unix:/no/such/socket: ") || !strings.Contains(text, "no such file") {
		t.Error(err)
	}
	if time.Since(start) > 4*time.Second {
		t.Error("it took a wait")
	}
	_, err = Connect(t.Context(), "", nil)
	expectCode(t, err, codes.InvalidArgument)
}

func TestErrorsAreContexts(t *testing.T) {
	if !errors.Is(fromCall(context.DeadlineExceeded), context.DeadlineExceeded) ||
		!errors.Is(fromCall(context.Canceled), context.Canceled) {
		t.Error("a context's end is not its error")
	}
}
