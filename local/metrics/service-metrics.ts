import type { MetricStore, Sample } from './metric-store.ts';

// What AWS's services measure by themselves, under their own names, by what plays their part here.
// https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-metrics.html

export interface FunctionMeter {
  /** @param running with this one */
  began(running: number): void;
  /** @param milliseconds without those until its process was ready */
  ended(milliseconds: number, failed: boolean): void;
  throttled(): void;
}

export interface QueueReading {
  readonly queue: string;
  readonly visible: number;
  readonly notVisible: number;
  readonly delayed: number;
  /** Seconds since the oldest message that is not deleted was sent; 0 without any. */
  readonly oldestSeconds: number;
}

export interface ServiceMetrics {
  functionMeter(name: string): FunctionMeter;
  /** @param milliseconds from the request to its answer */
  answered(api: string, status: number, milliseconds: number): void;
  queueRead(reading: QueueReading): void;
}

export function createServiceMetrics(
  store: Pick<MetricStore, 'put'>,
  now: () => number,
): ServiceMetrics {
  const put =
    (namespace: string, dimensions: Sample['dimensions']) => (name: string, value: number) =>
      store.put({ namespace, name, dimensions, at: now(), values: [value] });
  return {
    functionMeter(FunctionName) {
      const measure = put('AWS/Lambda', { FunctionName });
      return {
        began(running) {
          measure('Invocations', 1);
          measure('Throttles', 0);
          measure('ConcurrentExecutions', running);
        },
        ended(milliseconds, failed) {
          measure('Duration', milliseconds);
          measure('Errors', failed ? 1 : 0);
        },
        throttled: () => measure('Throttles', 1),
      };
    },
    answered(ApiId, status, milliseconds) {
      const measure = put('AWS/ApiGateway', { ApiId });
      measure('Count', 1);
      measure('4xx', status >= 400 && status < 500 ? 1 : 0);
      measure('5xx', status >= 500 ? 1 : 0);
      measure('Latency', milliseconds);
    },
    queueRead({ queue, visible, notVisible, delayed, oldestSeconds }) {
      const measure = put('AWS/SQS', { QueueName: queue });
      measure('ApproximateNumberOfMessagesVisible', visible);
      measure('ApproximateNumberOfMessagesNotVisible', notVisible);
      measure('ApproximateNumberOfMessagesDelayed', delayed);
      measure('ApproximateAgeOfOldestMessage', oldestSeconds);
    },
  };
}
