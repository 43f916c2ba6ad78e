package sandbox

import (
	"os"
	"strconv"
	"strings"
)

// processName is the number of a process and when it was started.
func processName(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return strconv.Itoa(pid) + "." + fields[19]
}

func lives(pid int, name string) bool { return processName(pid) == name }
