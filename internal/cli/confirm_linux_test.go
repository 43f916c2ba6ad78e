package cli

import (
	"io"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// TestConfirmIsNotTypedAhead: who pastes a command with a y behind it has not said yes to
// what the command shows.
func TestConfirmIsNotTypedAhead(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	var unlocked, number int32
	ioctl(t, master, syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked))
	ioctl(t, master, syscall.TIOCGPTN, unsafe.Pointer(&number))
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	typed := func(text string) {
		if _, err := io.WriteString(master, text); err != nil {
			t.Error(err)
		}
	}
	typed("y\ny\n")
	var waiting int32
	for end := time.Now().Add(20 * time.Second); waiting < 2 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		ioctl(t, slave, 0x541b, unsafe.Pointer(&waiting)) // FIONREAD
	}
	if waiting < 2 {
		t.Fatal("what was typed does not arrive")
	}
	answered := make(chan bool, 1)
	c := &command{in: slave, err: io.Discard}
	go func() {
		yes, _ := c.confirm("Install it?") // a no is an error
		answered <- yes
	}()
	for {
		select {
		case yes := <-answered:
			if yes {
				t.Error("what was typed before the question answered it")
			}
			return
		case <-time.After(20 * time.Millisecond):
			typed("n\n") // also one of these may come before the question
		}
	}
}
