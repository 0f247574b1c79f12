package maskd

import (
	"context"
	"net"
	"slices"
	"strings"
)

// isName is whether DNS may know more servers by an address than one.
func isName(address string) bool {
	host, _, ok := nameOf(address)
	return ok && host != ""
}

func nameOf(address string) (host, port string, ok bool) {
	rest, isDNS := strings.CutPrefix(address, "dns:")
	if isDNS {
		rest = strings.TrimPrefix(rest, "///")
	}
	if strings.ContainsAny(rest, "/@") {
		return "", "", false
	}
	host, port, err := net.SplitHostPort(rest)
	if err != nil || host == "" || port == "" || net.ParseIP(host) != nil || host == "unix" {
		return "", "", false
	}
	return host, port, true
}

// resolveByDNS gives the servers behind an address, each with the name that it was found by, to which TLS holds
// it: "10.0.0.7:7411@maskd".
func resolveByDNS(ctx context.Context, address string) ([]string, error) {
	host, port, ok := nameOf(address)
	if !ok {
		return []string{address}, nil
	}
	found, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i] = net.JoinHostPort(found[i], port) + "@" + host
	}
	return found, nil
}

// serversOf are the servers of all addresses, ascending; one that cannot be resolved stands for itself.
func serversOf(ctx context.Context, options *FailoverOptions) []string {
	var servers []string
	for _, address := range options.Addresses {
		found, err := options.Resolve(ctx, address)
		if err != nil {
			found = []string{address}
		}
		servers = append(servers, found...)
	}
	slices.Sort(servers)
	return slices.Compact(servers)
}
