"""One job makes all tables; the target of one table needs only what this table is made from."""

import pytest

from support.workflow import planned, write_study


@pytest.mark.slow
def test_one_job_makes_all_tables_and_a_table_about_data_needs_no_training(tmp_path) -> None:
    write_study(tmp_path, "minilm")
    every = planned(tmp_path)
    assert every["tables"] == every["plots"] == 1 and every["train"] > 1
    single = planned(tmp_path, "--", "split_sizes")
    assert single["split_sizes"] == 1 and single["audit"] > 1
    assert not {"tables", "train", "score"} & set(single)
