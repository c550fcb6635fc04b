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
  local ms = {}
  for _, percent in ipairs({ 50, 66, 75, 80, 90, 95, 98, 99 }) do -- those that ab prints
    ms[#ms + 1] = string.format('"p%d":%.3f', percent, latency:percentile(percent) / 1000)
  end
  io.write(string.format('\nRESULT {"requests":%d,"bytes":%.0f,"seconds":%.6f,"ms":{%s,"max":%.3f},'
    .. '"errors":{"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}}\n',
    summary.requests, summary.bytes, summary.duration / 1e6, table.concat(ms, ','), latency.max / 1000,
    errors.connect, errors.read, errors.write, errors.timeout, errors.status))
end
