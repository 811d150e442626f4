//go:build !linux

package main

import (
	"context"
	"errors"
	"io"
)

func idle(context.Context, options, io.Writer) error {
	return errors.New("watch an idle site: Linux only; leave it out with -idle 0")
}
