// Takes titles out of a Feedmill pool and prints them: go run pool_consumer.go localhost:6379 titles:pool:1
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/redis/go-redis/v9"
)

type item struct {
	ID   int64  `json:"id"`
	Text string `json:"text"`
	Ref  string `json:"ref"` // where a text that is too long for the list can be had
}

func main() {
	ctx, list := context.Background(), os.Args[2]
	// Without retries: what a lost answer held is listed by `feedmill pool lost`.
	db := redis.NewClient(&redis.Options{Addr: os.Args[1], MaxRetries: -1})
	for {
		data, err := db.RPop(ctx, list).Bytes()
		if errors.Is(err, redis.Nil) {
			return // pool_empty
		} else if err != nil {
			log.Fatal(err)
		}
		var it item
		if err := json.Unmarshal(data, &it); err != nil {
			log.Fatal(err)
		}
		fmt.Println(it.ID, it.Text, it.Ref)
		db.LPush(ctx, list+":used", it.ID) // so that Feedmill can mark it as used
	}
}
