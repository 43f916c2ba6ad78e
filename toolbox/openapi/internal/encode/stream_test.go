package encode

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func fileOf(text string, size int64) File {
	return File{Size: size, Open: func() (io.ReadCloser, error) { return io.NopCloser(iotest.OneByteReader(strings.NewReader(text))), nil }}
}

// A stream gives its pieces in order, as often as it is opened, and exactly as much as it said.
func TestStream(t *testing.T) {
	s := &Stream{}
	s.text([]byte("a,"))
	s.add(fileOf("file that grew", 4))
	s.text(nil)
	s.add(fileOf("", 0))
	s.text([]byte(",b"))
	for range 2 {
		got, err := io.ReadAll(s.Open())
		if err != nil || string(got) != "a,file,b" || s.Size != int64(len(got)) {
			t.Errorf("%q, %v, size %d", got, err, s.Size)
		}
	}
	if err := iotest.TestReader(s.Open(), []byte("a,file,b")); err != nil {
		t.Error(err)
	}
	short := &Stream{}
	short.add(fileOf("cut", 10))
	if got, err := io.ReadAll(short.Open()); !errors.Is(err, errShorter) {
		t.Errorf("%q, %v", got, err)
	}
}
