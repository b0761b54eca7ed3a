// Google's fake Pub/Sub server on a port of loopback, until it is killed.
package main

import (
	"flag"
	"fmt"

	"cloud.google.com/go/pubsub/v2/pstest"
)

func main() {
	port := flag.Int("port", 0, "port on 127.0.0.1; 0 for a free one")
	flag.Parse()
	server := pstest.NewServerWithPort(*port)
	fmt.Println(server.Addr)
	select {}
}
