-- What wrk asks for: the requests of a list, one a line, in their order and over again. A line is a path, and perhaps a tab and
-- an ETag to ask with. One thread: several would all begin at the same line. There is no response() here, since wrk would then
-- copy every body into Lua, and be slower than what it measures: it counts statuses above 399 and bytes by itself.
local requests = {}
local at = tonumber(os.getenv('BENCH_START'))

function init ()
  for line in io.lines(os.getenv('BENCH_LIST')) do
    local path, etag = line:match('^([^\t]+)\t?(.*)$')
    requests[#requests + 1] = wrk.format('GET', path, etag ~= '' and { ['If-None-Match'] = etag } or nil)
  end
end

function request ()
  at = at % #requests + 1
  return requests[at]
end

function done (summary, latency)
  local errors = summary.errors
  io.write(string.format('\nRESULT {"requests":%d,"bytes":%.0f,"seconds":%.6f,"ms":{"p50":%.3f,"p90":%.3f,"p99":%.3f,"max":%.3f},'
    .. '"errors":{"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}}\n',
    summary.requests, summary.bytes, summary.duration / 1e6,
    latency:percentile(50) / 1000, latency:percentile(90) / 1000, latency:percentile(99) / 1000, latency.max / 1000,
    errors.connect, errors.read, errors.write, errors.timeout, errors.status))
end
