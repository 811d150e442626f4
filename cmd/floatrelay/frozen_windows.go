package main

// endCommand ends a process that does not listen any more.
const endCommand = "taskkill /F /PID %d"
