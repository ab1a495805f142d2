#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What run.py makes of the lists of a suite and of the output of its programs.

    tests/conformance/run_test.py
"""
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True # leave the source tree as it is
sys.path.insert(0, str(Path(__file__).resolve().parent))
import run # noqa: E402


def one(result=""):
    return run.Run("coll", "bcast", 4, (), result, 0, 0)


class Judge(unittest.TestCase):
    def test_passes_with_no_errors_alone(self):
        self.assertEqual(run.judge(one(), 0, " No Errors\n"), "")
        self.assertIn("exit code 1", run.judge(one(), 1, " No Errors\n"))
        self.assertIn("wrong data", run.judge(one(), 0, "wrong data\n No Errors\n"))
        self.assertEqual(run.judge(one(), 0, ""), "did not print No Errors")
        self.assertEqual(run.judge(one(), None, " No Errors\n"), "not finished in time")

    def test_errors_that_are_due(self):
        for result in ("TestErrFatal", "TestStatus"):
            self.assertEqual(run.judge(one(result), 13, "anything"), "")
            self.assertNotEqual(run.judge(one(result), 0, " No Errors\n"), "")
        self.assertEqual(run.judge(one("TestStatusNoErrors"), 1, " No Errors\n"), "")
        self.assertNotEqual(run.judge(one("TestStatusNoErrors"), 1, ""), "")


class Lists(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.suite = Path(self.place.name)
        for name, text in (("testlist", "coll\n#io\nimpls\n"), ("impls/testlist", "x 1\n"), ("io/testlist", "y 1\n"),
                           ("coll/testlist", "deep\n# no 2\nbcast 4 arg=-a arg=-b timeLimit=9\n"
                            "bcast 4 arg=-a arg=-b env=MPIR_CVAR_X=1\nscan 3 resultTest=TestStatus mem=2.5\n"
                            "send 2 xfail=ticket1 env=MPIR_CVAR_CH4_COMM_CONNECT_TIMEOUT=20\n"),
                           ("coll/deep/testlist", "reduce\n"),
                           ("coll/deep/testlist.dtp", "reduce 4 arg=-type=MPI_INT\n")):
            (self.suite / name).parent.mkdir(parents=True, exist_ok=True)
            (self.suite / name).write_text(text, encoding="utf-8")

    def test_follows_the_lists(self):
        self.assertEqual(run.lists(self.suite), ["coll", "coll/deep"])

    def test_reads_the_list_of_datatypes(self):
        self.assertEqual([(each.program, each.ranks, each.arguments) for each in run.read_list(self.suite, "coll/deep")],
                         [("reduce", 2, ()), ("reduce", 4, ("-type=MPI_INT",))])

    def test_settings_of_mpich_do_not_count(self):
        runs = run.read_list(self.suite, "coll")
        self.assertEqual([(each.program, each.ranks, each.arguments) for each in runs],
                         [("bcast", 4, ("-a", "-b")), ("scan", 3, ()), ("send", 2, ())])
        self.assertEqual((runs[1].result, runs[1].memory), ("TestStatus", 2.5))
        self.assertEqual((runs[0].expected, runs[0].limit, runs[2].expected, runs[2].limit),
                         ("", "", "ticket1", "20"))

    def test_what_is_too_large(self):
        scan = run.read_list(self.suite, "coll")[1]
        self.assertIsNone(run.too_large(scan, 5))
        self.assertIn("2.5 GB", run.too_large(scan, 4.9))
        self.assertIsNone(run.too_large(one(), 0.1))

    def test_what_is_left_out(self):
        path = self.suite / "left_out.txt"
        path.write_text("# a comment\ncoll/bcast for a reason\nspawn/ another one\n--check:coll/scan a finding\n",
                        encoding="utf-8")
        reasons = run.read_left_out(path)
        self.assertEqual(run.left_out(one(), reasons, []), "for a reason")
        self.assertEqual(run.left_out(one(), reasons, ["--check"]), "for a reason")
        self.assertEqual(run.left_out(one()._replace(directory="spawn"), reasons, []), "another one")
        self.assertIsNone(run.left_out(one()._replace(program="bcast2"), reasons, []))
        self.assertIsNone(run.left_out(one()._replace(program="scan"), reasons, ["--processes", "2"]))
        self.assertEqual(run.left_out(one()._replace(program="scan"), reasons, ["--check"]), "a finding")

    def test_the_file_itself_gives_reasons(self):
        for program, reason in run.read_left_out(run.HERE / "left_out.txt").items():
            self.assertTrue(reason, program)


if __name__ == "__main__":
    unittest.main()
