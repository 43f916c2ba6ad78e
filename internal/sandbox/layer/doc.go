// Package layer is what a command works on: a copy-on-write view of the granted
// directories, and the change set that it holds when the command has ended.
//
// A backend mounts each granted directory (a [Tree]) as the lower half of an
// overlay, so that everything the command changes lands in the upper half, and
// nothing reaches the person's files. When all processes have ended, [Read] turns
// the upper half into a [Set] of changes with what was there before and what is
// there now. The set is judged elsewhere. [Set.Apply] carries out what was
// accepted, all or nothing, and [Recover] finishes what a crash interrupted.
//
// The layer uses unprivileged overlayfs in one format: userxattr, without
// redirect_dir, index and metacopy, also for root.
//
// Backends and the wiring import it. It imports the ground floor only. Its
// invariant: a live file that is not as it was when the command began is never
// replaced or removed.
package layer
