package sharetest

// readersHinder: Windows refuses to replace a file that somebody has open.
const readersHinder = true
