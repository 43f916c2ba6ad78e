//go:build ignore

package main

func special(string, []string) bool { return false }

func moreWrites(string, []string) {}

func moreReads(string, []string) {}
