package main

const otherSystemPath = "/opt/relay/relay_server"
