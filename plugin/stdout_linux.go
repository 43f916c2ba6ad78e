package plugin

import "syscall"

// Not every machine that runs Linux has dup2.
func dup2(from, to int) error { return syscall.Dup3(from, to, 0) }
