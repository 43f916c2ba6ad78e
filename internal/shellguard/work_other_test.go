//go:build !unix

package shellguard

import "time"

// workTime is the time that goes by, on systems that do not tell what a process
// has used of it.
func workTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
