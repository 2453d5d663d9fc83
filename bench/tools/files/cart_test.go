package cart

import "testing"

func BenchmarkAdd(b *testing.B) {
	for i := 0; i < b.N; i++ {
		_ = make([]byte, 64)
	}
	b.ReportMetric(3, "items/op")
}

func BenchmarkSort(b *testing.B) {
	for _, size := range []string{"size=10", "size=20"} {
		b.Run(size, func(b *testing.B) {
			b.Log("begins: now")
			for i := 0; i < b.N; i++ {
			}
		})
	}
}
