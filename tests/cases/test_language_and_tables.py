"""Text, sound and tables: what fits the memory, what is divided over the GPUs, and how little the host does."""

import pytest

from sizer.catalog.sample_formats import SampleFormat
from sizer.sizing.stages.sharding import Sharding
from tests.cases.case_book import expect

pytestmark = pytest.mark.xdist_group("examples")  # one worker sizes cases and examples


def test_a_transformer_takes_one_server_and_hardly_a_processor():
    """5 epochs of 200 M pairs in 24 h: 11,574 pairs/s; published for eight V100: 12,870. Pairs of 300 B: 3.5 MB/s."""
    expect("translation", servers=(1, 1), limited_by=("gpu",))


def test_large_tables_are_divided_over_the_gpus():
    """10 G parameters at 4 bytes are 40 GB, more than one GPU holds; 278,000 rows/s x 160 B are 44 MB/s."""
    design = expect("recommender", gpus=(2, 64), not_limited_by=("decode",))
    memory = design.workloads[0].memory
    assert memory.sharding is Sharding.EMBEDDINGS
    assert memory.state_bytes >= 40e9 / design.n_gpus
    assert memory.need_bytes <= memory.memory_bytes


def test_bert_from_scratch_takes_a_few_servers():
    """3 epochs of 157 M sequences in 4 days: 1,361 sequences/s x 3 x 340 GFLOP = 1.39 PFLOPS useful.

    At 25 to 45 % of the peak 25 to 44 GPUs; at most 14 sequences of 512 tokens on 32 GB, 6 on 16 GB as in MLPerf v0.7.
    """
    design = expect("bert", gpus=(16, 64), largest_batch=14, limited_by=("gpu",))
    (work,) = design.workloads
    if work.memory.memory_bytes < 20e9:
        assert work.batch_per_gpu <= 6
    assert int(work.stack.released.value[:4]) >= 2019  # no stack of 2016 runs it


def test_gpt2_fits_once_its_state_is_divided():
    """10 G tokens are 1e7 sequences of 3 x 3.5 TFLOP: 1.05e20 FLOP, in 30 days 41 TFLOPS useful.

    One V100 gives 36 (Megatron: 39), so two do the arithmetic. Weights, gradients and optimizer at 16 bytes a
    parameter are 24 GB: more than 16 GB, and with activations more than 32 GB, unless divided. Four GPUs give 144
    TFLOPS, 8.4 days, and hold 16.2 of 32 GiB; one to two servers of eight would be convenient, not needed.
    """
    design = expect("gpt2", gpus=(4, 16), largest_batch=16, limited_by=("gpu",))
    memory = design.workloads[0].memory
    assert memory.sharding is Sharding.OPTIMIZER
    assert memory.need_bytes <= memory.memory_bytes
    assert design.platform.gpu.memory_bytes.value > 20e9


def test_fine_tuning_of_bert_takes_one_server():
    """3 epochs of 88,000 letters in an hour: 73 sequences/s x 3 x 340 GFLOP = 75 TFLOPS, 1.5 to 2.6 GPUs at 25 to 45 %.

    The start-up is inside the hour; 176 MB of letters stay in memory.
    """
    expect("letter-routing", gpus=(2, 8), servers=(1, 1), largest_batch=14, limited_by=("gpu",))


def test_sound_is_neither_an_image_nor_free():
    """40 epochs of 2.4 M pieces in 3 days: 370 pieces/s x 3 x 90 GFLOP = 100 TFLOPS useful.

    People's own trainings reached 6 to 22 % of a V100's peak (DeiT-S to DeiT-B, Swin 8 %): 3.6 to 13 GPUs, so 4 to 16
    of a network nobody measured. A FLAC piece of 15 s is decoded in 8 ms (3 cores), with features in at most 60 ms (22
    cores of 40); 89 MB/s of reads.
    """
    design = expect("call-centre", gpus=(4, 16), servers=(1, 2), not_limited_by=("decode", "storage"))
    assert design.workloads[0].sample_format is SampleFormat.AUDIO


def test_rows_of_clicks_cost_the_host_microseconds():
    """3 epochs of 2 G rows in 6 h: 278,000 rows/s and 28 MB/s; at 1 to 10 us a row, 0.3 to 3 of 40 cores.

    Arithmetic: 278,000 x 3 x 2 MFLOP = 1.7 TFLOPS. 500 M parameters with optimizer take 6 to 8 GB, so one GPU holds
    them and the smallest server is enough.
    """
    design = expect("click-rates", gpus=(1, 8), servers=(1, 1), not_limited_by=("decode", "storage", "network"))
    (work,) = design.workloads
    assert work.sample_format is SampleFormat.TABULAR
    decode = next(stage for stage in work.stages if stage.key == "decode")
    # 1 to 10 us a row on 40 cores: 4 to 40 M rows/s, of which 278,000 are 7 % at most.
    assert 278e3 / float(decode.capacity.value) <= 0.07


def test_vectors_of_a_recommender_cross_the_compute_fabric_and_not_the_storage_network():
    """A DGX H200 exchanges over eight ports of 400 Gbit/s and reads over others, so two servers are more than one.

    MLPerf has 19.6 M samples/s of two H200 servers in steps of 65,536 and 15.8 to 17.7 M of one; larger steps do more.
    A sample moves up to 26 vectors of 128 numbers of 2 to 4 bytes there and back, 13 to 27 kB: by the 100 GB/s of the
    storage ports of both servers 8 to 15 M samples/s at most. Reads are 906 B a sample: 20 M/s are 18 GB/s.
    """
    design = expect("click-log", gpus=(16, 16), servers=(2, 2), not_limited_by=("network", "storage"))
    (work,) = design.workloads
    assert 18e6 <= float(work.throughput.value) <= 40e6
    network = next(stage for stage in work.stages if stage.key == "network")
    assert float(network.capacity.value) * 906 >= 100e9  # nothing but reads
