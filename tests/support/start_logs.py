"""Start-up logs in the formats of several releases, written for the tests."""

from __future__ import annotations

import io

from analyzer.adapters.log_files import marked_lines
from analyzer.application.start_log.events import MARKERS
from analyzer.application.start_log.reading import read_start
from analyzer.domain.startup import Start

PLAIN = """\
[2025-06-01 10:00:00] server_args=ServerArgs(model_path='example/model', dtype='auto', kv_cache_dtype='auto', \
mem_fraction_static=0.88, max_running_requests=None, max_total_tokens=None, page_size=1, tp_size=1, host='10.1.2.3', \
api_key='secret-key', served_model_name='a, b=c')
[2025-06-01 10:00:05] Load weight begin. avail mem=94.04 GB
[2025-06-01 10:00:25] Load weight end. type=SomeForCausalLM, dtype=bfloat16, avail mem=21.71 GB, mem usage=72.33 GB.
[2025-06-01 10:00:26] KV Cache is allocated. #tokens: 159294, KV size: 10.42 GB
[2025-06-01 10:00:26] Memory pool end. avail mem=11.10 GB
[2025-06-01 10:00:27] Capture cuda graph begin. This can take up to several minutes. avail mem=11.00 GB
[2025-06-01 10:00:40] Capture cuda graph end. Time elapsed: 13.00 s. mem usage=1.25 GB. avail mem=9.75 GB.
[2025-06-01 10:00:41] max_total_num_tokens=159294, chunked_prefill_size=8192, max_prefill_tokens=16384, \
max_running_requests=2048, context_len=131072, available_gpu_mem=9.75 GB
"""

REFUSED = """\
[2025-06-01 10:00:00] server_args=ServerArgs(model_path='example/model', mem_fraction_static=0.55, tp_size=1)
[2025-06-01 10:00:05] Load weight begin. avail mem=94.04 GB
[2025-06-01 10:00:25] Load weight end. type=SomeForCausalLM, dtype=bfloat16, avail mem=21.71 GB, mem usage=72.33 GB.
RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.
"""


def start_of(*logs: str | bytes, wanted: int | None = None) -> Start:
    """What `logs` say."""
    contents = [log.encode() if isinstance(log, str) else log for log in logs]
    return read_start([marked_lines(io.BytesIO(content), MARKERS) for content in contents], wanted)
