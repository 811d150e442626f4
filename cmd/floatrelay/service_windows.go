package main

import "github.com/convertfw/floatrelay/internal/service"

func accountName(user string) string { return service.AccountName(user) }
