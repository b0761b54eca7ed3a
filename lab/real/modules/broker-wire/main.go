// Publishes to or consumes from a broker through hyperfleet-broker, as Sentinel and the Go adapters do.
// Bodies are CloudEvents in JSON, one per line: read from standard input by "publish", written to standard output by
// "consume". BROKER_CONFIG_FILE says which broker.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/openshift-hyperfleet/hyperfleet-broker/broker"
	"github.com/openshift-hyperfleet/hyperfleet-broker/pkg/logger"
	"github.com/prometheus/client_golang/prometheus"
)

// The library's own logger, at a level that nothing reaches.
var silent = logger.NewTestLogger(logger.WithLevel(slog.LevelError + 1))

func main() {
	if len(os.Args) < 3 {
		fail(fmt.Errorf("usage: publish TOPIC | consume TOPIC SUBSCRIPTION"))
	}
	metrics := broker.NewMetricsRecorder("wire-proof", "0", prometheus.NewRegistry())
	switch os.Args[1] {
	case "publish":
		publish(metrics, os.Args[2])
	case "consume":
		consume(metrics, os.Args[2], os.Args[3])
	}
}

func publish(metrics *broker.MetricsRecorder, topic string) {
	publisher, err := broker.NewPublisher(silent, metrics)
	fail(err)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var sent event.Event
		fail(json.Unmarshal(lines.Bytes(), &sent))
		fail(publisher.Publish(context.Background(), topic, &sent))
		fmt.Println("published")
	}
	fail(publisher.Close())
}

func consume(metrics *broker.MetricsRecorder, topic, subscription string) {
	subscriber, err := broker.NewSubscriber(silent, subscription, metrics)
	fail(err)
	fail(subscriber.Subscribe(context.Background(), topic, func(_ context.Context, got *event.Event) error {
		line, err := json.Marshal(got)
		fmt.Println(string(line))
		return err
	}))
	fmt.Println("subscribed")
	bufio.NewScanner(os.Stdin).Scan()
	fail(subscriber.Close())
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
