package httpclient

import (
	"io"
	"net/http"
	"testing"
)

func benchGet(b *testing.B, client *http.Client, url string) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkHTTP is a request over a connection that is there already, and
// BenchmarkHTTPPlain its peer without a gate.
func BenchmarkHTTP(b *testing.B) {
	srv, _ := hello(b)
	client := New([]string{"example.com", "*.example.org", "127.0.0.0/8"}, Options{})
	b.ReportAllocs()
	for b.Loop() {
		benchGet(b, client, srv.URL)
	}
}

func BenchmarkHTTPPlain(b *testing.B) {
	srv, _ := hello(b)
	client := &http.Client{Transport: &http.Transport{}}
	b.ReportAllocs()
	for b.Loop() {
		benchGet(b, client, srv.URL)
	}
}

// BenchmarkHTTPConnect makes the client and the connection anew, as a call does.
func BenchmarkHTTPConnect(b *testing.B) {
	srv, _ := hello(b)
	b.ReportAllocs()
	for b.Loop() {
		g := NewGate([]string{"127.0.0.0/8"}, Options{})
		benchGet(b, g.Client(), srv.URL)
		g.Close()
	}
}

func BenchmarkHTTPConnectPlain(b *testing.B) {
	srv, _ := hello(b)
	b.ReportAllocs()
	for b.Loop() {
		way := &http.Transport{}
		benchGet(b, &http.Client{Transport: way}, srv.URL)
		way.CloseIdleConnections()
	}
}

// BenchmarkGateUnused is what a tool costs that could use the network and does not.
func BenchmarkGateUnused(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		g := NewGate([]string{"example.com", "*.example.org", "127.0.0.0/8"}, Options{})
		_ = g.Client()
		g.Close()
	}
}

// BenchmarkJudge is the gate's own part of a request.
func BenchmarkJudge(b *testing.B) {
	g := NewGate([]string{"example.com", "*.example.org", "127.0.0.0/8"}, Options{})
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "https://api.example.org/v1/things", http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.judge(req); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMeetHosts is what a guard costs that narrows something else.
func BenchmarkMeetHosts(b *testing.B) {
	g, h := []string{"*", "10.0.0.0/8", "127.0.0.1", "localhost"}, AllHosts()
	b.ReportAllocs()
	for b.Loop() {
		if m := MeetHosts(g, h); len(m) != 4 {
			b.Fatal(m)
		}
	}
}
